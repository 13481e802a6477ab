import { type NextFunction, type Request, type Response, Router } from 'express';

interface PathHandler {
  /** Express 5 syntax; a literal colon is escaped. */
  readonly path: string;
  readonly handle: (request: Request, response: Response) => Promise<void> | void;
}

/** Most segments of a request's path that choose its router. */
const DEPTH = 3;

/**
 * Returns one handler for all paths. Express compares a request with one path after the other; this tries only those
 * whose first segments can match, in the given order, so a hundred paths cost no more than a few.
 */
export function indexPaths(handlers: readonly PathHandler[]) {
  const prefixes = new Set(handlers.flatMap(({ path }) => prefixesOf(fixedSegments(path))));
  const routers = new Map([...prefixes].map((prefix) => [prefix, routerOf(handlers, prefix.split('/'))]));
  const whole = routerOf(handlers, []);
  return (request: Request, response: Response, next: NextFunction): void => {
    (longestPrefix(routers, request.path.toLowerCase()) ?? whole)(request, response, next);
  };
}

function longestPrefix(routers: ReadonlyMap<string, Router>, path: string): Router | undefined {
  let found: Router | undefined;
  let end = 0;
  for (let depth = 0; depth < DEPTH && end < path.length; depth += 1) {
    const slash = path.indexOf('/', end + 1);
    end = slash < 0 ? path.length : slash;
    const router = routers.get(path.slice(1, end));
    if (!router) break;
    found = router;
  }
  return found;
}

/** The segments before the first one that is a pattern, in lower case as Express compares them. */
function fixedSegments(path: string): string[] {
  const segments = path.slice(1).split('/');
  const pattern = segments.findIndex((segment) => /(?<!\\)[:*{]/.test(segment));
  return segments
    .slice(0, pattern < 0 ? segments.length : pattern)
    .map((segment) => segment.replaceAll('\\', '').toLowerCase());
}

function prefixesOf(segments: readonly string[]): string[] {
  return segments.slice(0, DEPTH).map((_, depth) => segments.slice(0, depth + 1).join('/'));
}

/** A router with every path that a request can match whose path begins with these segments. */
function routerOf(handlers: readonly PathHandler[], prefix: readonly string[]): Router {
  const router = Router();
  for (const { path, handle } of handlers) {
    const fixed = fixedSegments(path);
    if (prefix.every((segment, place) => fixed[place] === undefined || fixed[place] === segment)) {
      router.all(path, handle);
    }
  }
  return router;
}
