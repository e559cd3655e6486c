// Mails an invitation over SMTP. Whoever invited is not kept waiting: a mail that cannot be sent is in the log, without its link.
// Plain text; every word of a person in it is on one line.

import type { Transporter } from 'nodemailer';

export interface InvitationMail {
  readonly to: string;
  readonly workspaceName: string;
  readonly inviter: string | null;
  readonly role: string;
  readonly link: string;
  readonly expiresAt: Date;
}

export interface MailOptions {
  readonly url: string;
  readonly from: string;
  readonly onError: (error: unknown) => void;
}

/** A mail server that does not answer must not hold what waits for it for ever. */
const TIMEOUT_MS = 20_000;
/** Connections side by side; what comes beyond waits in memory. */
const CONNECTIONS = 2;
const MAX_WAITING = 500;

export interface Mail {
  invite(mail: InvitationMail): void;
  /** Waits for what is under way, within the timeout of a mail. */
  close(): Promise<void>;
}

const onOneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');

export function createMail({ url, from, onError }: MailOptions): Mail {
  let transport: Promise<Transporter> | null = null;
  /** Made with the first mail. */
  function connect(): Promise<Transporter> {
    transport ??= import('nodemailer').then(({ createTransport }) => {
      const bounds = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
      const options = { url, pool: true, maxConnections: CONNECTIONS, ...bounds, disableFileAccess: true, disableUrlAccess: true };
      return createTransport(options as Parameters<typeof createTransport>[0]);
    });
    return transport;
  }
  const sending = new Set<Promise<void>>();

  return {
    invite({ to, role, link, expiresAt, ...words }) {
      const workspaceName = onOneLine(words.workspaceName);
      const inviter = words.inviter === null ? null : onOneLine(words.inviter);
      if (sending.size >= MAX_WAITING) return onError(new Error('too many mails wait for the mail server'));
      const who = inviter === null ? 'You are' : `${inviter} has`;
      const text = [
        `${who} invited${inviter === null ? '' : ' you'} to the workspace ${workspaceName}, as ${role}.`,
        '',
        'Follow this link to sign up, or to sign in where you have an account:',
        '',
        link,
        '',
        `It is for this address alone, is good once, and ends on ${expiresAt.toUTCString()}.`,
        'If you expected no invitation, do nothing.',
        '',
      ].join('\n');
      const sent: Promise<void> = connect()
        .then((mail) => mail.sendMail({ from, to: { name: '', address: to }, subject: `Invitation to ${workspaceName}`, text }))
        .then(() => undefined, onError)
        .finally(() => sending.delete(sent));
      sending.add(sent);
    },
    async close() {
      await Promise.all(sending);
      (await transport)?.close();
    },
  };
}
