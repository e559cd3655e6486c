// A new key as its dialog shows it, with a command that tries it.
// The only place that writes a key out: the dialog forgets it when it is closed.

import type { ApiKeyWithSecret } from '../../client/sdk.ts';
import { pathToTry } from './scopes.ts';
import type { Made } from './secret-dialog.tsx';

export function madeKey({ name, secret, scopes }: ApiKeyWithSecret, title: string, more = ''): Made {
  const path = pathToTry(scopes);
  const command = path === undefined ? {} : { command: `curl '${location.origin}${path}' \\\n  -H 'Authorization: Bearer ${secret}'` };
  return {
    title,
    secret,
    about: (
      <>
        The secret of <b>{name}</b>. The server keeps only its hash: who loses it rotates the key. {more}
      </>
    ),
    ...command,
  };
}
