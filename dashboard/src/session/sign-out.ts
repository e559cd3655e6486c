// Ends the session on the server and forgets everything that was read in it.
// Goes nowhere; the caller does.

import { send, setDeveloperKey } from '../client/client.ts';
import { queryClient } from '../client/queries.ts';
import { accountQuery } from './account.ts';

export async function signOut(): Promise<void> {
  setDeveloperKey(null);
  await send('/v1/account/sign_out', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  queryClient.clear();
  queryClient.setQueryData(accountQuery.queryKey, null);
}
