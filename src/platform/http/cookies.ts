/**
 * Returns the value of a request's cookie; undefined if there is no cookie of this name. @param header the Cookie
 * header
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/** A cookie that no script can read. */
interface CookieSettings {
  readonly path: string;
  /** `Lax`: other sites send it only with a plain link; `Strict`: they never send it. */
  readonly sameSite: 'Lax' | 'Strict';
  /** Sent only over https. */
  readonly secure: boolean;
  /** How long the browser keeps it; 0 removes it. */
  readonly seconds: number;
}

/** A Set-Cookie header. @param value of characters that need no quoting */
export function setCookie(name: string, value: string, settings: CookieSettings): string {
  const { path, sameSite, secure, seconds } = settings;
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
}
