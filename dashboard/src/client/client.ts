// The client of this tab: authenticated by the session cookie, for the workspace that was chosen.
// Keeps no answers (queries.ts does) and decides nothing about pages.

import { Tranche } from './sdk.ts';
import { chosenWorkspace } from './workspace-choice.ts';

const signedOutListeners = new Set<() => void>();

/** Calls `listener` when the server no longer knows the session. Returns what ends that. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => void signedOutListeners.delete(listener);
}

/** The codes that say that there is no session; a wrong password, which is a 401 as well, does not end one. */
const signedOutCodes: readonly unknown[] = ['not_signed_in', 'missing_api_key'];

async function hear(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, credentials: 'same-origin' });
  if (response.status === 401) {
    const problem = (await response
      .clone()
      .json()
      .catch(() => ({}))) as { readonly code?: unknown };
    if (signedOutCodes.includes(problem.code)) for (const listener of signedOutListeners) listener();
  }
  return response;
}

/** `fetch` for what the client has no method for, such as downloads: in the workspace of this tab. */
export function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const workspace = chosenWorkspace();
  if (workspace !== null) headers.set('tranche-workspace', workspace);
  return hear(path, { ...init, headers });
}

// Only secure pages have it, and a dashboard on a local network is often opened over plain http. The client makes idempotency keys by it.
if (crypto.randomUUID === undefined) {
  crypto.randomUUID = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const text = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
  };
}

export const client = new Tranche({ baseUrl: location.origin, workspace: chosenWorkspace, fetch: hear, maxRetries: 1 });
