import paths from 'path-to-regexp';
import { vi } from 'vitest';
import { startTestService, type TestService } from './test-service.js';

/** One method of one path, as the OpenAPI documents tell it; `{name}` in a path is a parameter. */
export interface DescribedRoute {
  readonly method: string;
  readonly path: string;
  readonly statuses: readonly number[];
  readonly extension: boolean;
  readonly needsToken: boolean;
}

interface Operation {
  readonly responses: Record<string, unknown>;
  readonly security?: unknown;
  readonly 'x-extension'?: boolean;
}

/** A service, and the paths that requests are really compared with: read off the comparison, not off their description. */
export async function startObservedService(
  environment: Record<string, string> = {},
): Promise<TestService & { readonly mountedPaths: readonly string[] }> {
  const mounting = vi.spyOn(paths, 'match');
  try {
    const running = await startTestService(environment);
    // Express compares the beginnings of paths for its middleware.
    const whole = mounting.mock.calls.filter(([, options]) => options?.end !== false);
    const mountedPaths = [...new Set(whole.map(([path]) => documentPath(String(path))))];
    return { ...running, mountedPaths };
  } finally {
    mounting.mockRestore();
  }
}

/** Every `METHOD path` that is mounted: the methods as OPTIONS tells them. HEAD goes with GET. */
export async function mountedRoutes(url: string, paths: readonly string[]): Promise<string[]> {
  const routes = paths.map(async (path) => {
    const response = await fetch(`${url}${concrete(path)}`, { method: 'OPTIONS' });
    const methods = (response.headers.get('allow') ?? '').split(', ');
    return methods.filter((each) => each !== 'HEAD' && each !== 'OPTIONS').map((method) => `${method} ${path}`);
  });
  return (await Promise.all(routes)).flat();
}

/** Everything that the OpenAPI documents describe. */
export async function describedRoutes(url: string, mountedPaths: readonly string[]): Promise<DescribedRoute[]> {
  const documents = mountedPaths.filter((path) => path.endsWith(':openapi'));
  const routes = documents.map(async (path) => {
    const document = (await (await fetch(`${url}${path}`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    return Object.entries(document.paths).flatMap(([place, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: place,
        statuses: Object.keys(operation.responses).map(Number),
        extension: operation['x-extension'] === true,
        needsToken: operation.security !== undefined,
      })),
    );
  });
  return (await Promise.all(routes)).flat();
}

/** The same path whatever its parameters are called. */
export function shape(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '{}');
}

/** A path with ids in the places of its parameters. */
export function concrete(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
}

function documentPath(path: string): string {
  return path.replace(/\\:|[:*](\w+)/g, (_, name?: string) => (name === undefined ? ':' : `{${name}}`));
}
