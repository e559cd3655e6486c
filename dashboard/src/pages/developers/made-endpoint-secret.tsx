// A new signing secret of an endpoint as its dialog shows it.
// Forgotten with the dialog.

import type { WebhookEndpointWithSecret } from '../../client/sdk.ts';
import type { Made } from './secret-dialog.tsx';

export const madeEndpointSecret = ({ url, secret }: WebhookEndpointWithSecret, title: string, more = ''): Made => ({
  title,
  secret,
  about: (
    <>
      The receiver at <code style={{ overflowWrap: 'anywhere' }}>{url}</code> verifies signatures with this secret, by Standard Webhooks.{' '}
      {more}
    </>
  ),
});
