// Ends the session on the server and forgets everything that was read in it.
// Goes nowhere; the caller does.

import { client } from '../client/client.ts';
import { queryClient } from '../client/queries.ts';
import { accountQuery } from './account.ts';

export async function signOut(): Promise<void> {
  await client.account.signOut();
  queryClient.clear();
  queryClient.setQueryData(accountQuery.queryKey, null);
}
