// A request to the API as a line of curl. The key is a variable of the shell: none is ever written out.
// Pure.

export interface CurlRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** What a shell reads as more than text, such as `&` in a query, would be run. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function curlOf({ method = 'GET', path, body }: CurlRequest, origin: string): string {
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined);
  const url = origin + path;
  const lines = [
    `curl ${isPlain ? '' : `-X ${method} `}${/^[\w/:.[\]-]+$/.test(url) ? url : quoted(url)}`,
    `  -H "Authorization: Bearer $TRANCHE_API_KEY"`,
  ];
  if (body !== undefined) lines.push(`  -H "Content-Type: application/json"`, `  -d ${quoted(JSON.stringify(body))}`);
  return lines.join(' \\\n');
}
