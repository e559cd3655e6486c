// The body of every webhook of the benchmark: a released payment, as the service would write it. The same for all who send.

import { encodeId } from '../../server/src/domain/ids.ts';

const PROJECT = '0199aaaa-0000-7000-8000-000000000001';

export const eventBody = (seq: number): string =>
  JSON.stringify({
    event: 'payment.released',
    data: {
      projectId: encodeId('project', PROJECT),
      milestoneId: encodeId('milestone', PROJECT),
      amount: 150_000 + (seq % 1_000),
      currency: 'USD',
    },
  });
