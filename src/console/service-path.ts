/**
 * Where the console finds a path of the service. It is relative to the page, because the service may be below a path of
 * its host: the console is at `console` there.
 */
export const onService = (path: string): string => `.${path}`;
