// How many invitations are mailed to one address and by one person: counted over all processes, so that a server is nobody's mail cannon.
// Counted before a mail is sent. Only hashes of addresses are stored, in the table of attempts to sign in.

import type { Refusal } from '../domain/errors.ts';
import { foldEmail } from '../domain/person.ts';
import { type AttemptsOptions, createAttempts } from './attempts.ts';

export const MAIL_WINDOW_MS = 60 * 60_000;
/** From everybody together: enough for a link that got lost twice. */
export const MAILS_PER_RECIPIENT = 5;
/** In all workspaces together: enough for a whole team on its first day. */
export const MAILS_PER_INVITER = 100;

export interface MailLimits {
  /** Counts a mail that is about to be sent; the refusal where it is one too many. `inviter`: the person, or the workspace of the key. */
  count(mail: { readonly to: string; readonly inviter: string }): Promise<Refusal | null>;
}

export function createMailLimits(options: AttemptsOptions): MailLimits {
  const attempts = createAttempts(options, MAIL_WINDOW_MS);

  async function countIn(kind: 'mail to' | 'mail by', text: string, limit: number): Promise<Refusal | null> {
    const retryAfterSeconds = await attempts.count(`${kind}:${text}`, limit);
    if (retryAfterSeconds === null) return null;
    const what = kind === 'mail to' ? 'to this address' : 'by whoever invites';
    return {
      code: 'too_many_mails',
      detail: `As many invitations were mailed ${what} within an hour as may be; the next one is in ${retryAfterSeconds} s.`,
      retryAfterSeconds,
    };
  }

  return {
    // Whoever is over their own limit takes nothing from that of the recipient.
    count: async ({ to, inviter }) =>
      (await countIn('mail by', inviter, MAILS_PER_INVITER)) ?? countIn('mail to', foldEmail(to), MAILS_PER_RECIPIENT),
  };
}
