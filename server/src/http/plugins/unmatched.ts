// Requests that no route takes: 405 with Allow where the path has other methods, an answer to OPTIONS, 404 for all else.
// Knows only methods and paths; asks for no key, since it says nothing that the published document does not.

import type { Refusal } from '../../domain/errors.ts';

/** Collects the routes as they are registered and tells which methods a path has. */
export interface PathTable {
  add(method: string | readonly string[], path: string): void;
  /** `GET, HEAD, OPTIONS`, or null when no route has this path. */
  allow(path: string): string | null;
}

export function createPathTable(): PathTable {
  const methodsByPath = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  return {
    add(method, path) {
      let entry = methodsByPath.get(path);
      if (entry === undefined) {
        const source = path
          .split('/')
          .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[^\w-]/g, '\\$&')))
          .join('/');
        entry = { pattern: new RegExp(`^${source}$`), methods: new Set() };
        methodsByPath.set(path, entry);
      }
      for (const name of typeof method === 'string' ? [method] : method) entry.methods.add(name);
    },
    allow(path) {
      const methods = new Set<string>();
      // `OPTIONS *` asks about the server as a whole.
      for (const entry of methodsByPath.values())
        if (path === '*' || entry.pattern.test(path)) for (const method of entry.methods) methods.add(method);
      return methods.size === 0 ? null : [...methods, 'OPTIONS'].join(', ');
    },
  };
}

/** The path of a request target: without its query, and without the origin that a proxy may have left in front. */
export function pathOf(target: string): string {
  const path = target.split('?', 1)[0] as string;
  return path.startsWith('/') || path === '*' ? path : path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/';
}

export type Unmatched = { readonly allow: string; readonly refusal: null } | { readonly allow: string | null; readonly refusal: Refusal };

/** What to answer to a request that matched no route; `refusal` null where it is an OPTIONS request that Allow answers. */
export function judgeUnmatched(table: PathTable, method: string, target: string): Unmatched {
  const path = pathOf(target);
  const allow = table.allow(path);
  if (allow === null)
    return { allow, refusal: { code: 'not_found', detail: 'There is no such path. All endpoints begin with /v1; /docs lists them.' } };
  if (method === 'OPTIONS') return { allow, refusal: null };
  return { allow, refusal: { code: 'method_not_allowed', detail: `This path has no ${method}; it has ${allow}.` } };
}
