// Invitations by mail, over a mail server of this test's own.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createMail, type InvitationMail } from './mail.ts';

/** Speaks as much SMTP as a mail takes, and keeps what it was sent. */
async function startMailServer(): Promise<{ url: string; mails: string[]; server: Server }> {
  const mails: string[] = [];
  const server = createServer((socket) => {
    let data: string | null = null;
    socket.write('220 mail.test\r\n');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      for (const line of chunk.split('\r\n').slice(0, -1)) {
        if (data !== null) {
          if (line !== '.') data += `${line}\n`;
          else {
            mails.push(data);
            data = null;
            socket.write('250 kept\r\n');
          }
        } else if (line === 'DATA') {
          data = '';
          socket.write('354 go on\r\n');
        } else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, mails, server };
}

const invitation: InvitationMail = {
  to: 'grace@example.com',
  workspaceName: 'Studio North',
  inviter: 'Ada Byron',
  role: 'developer',
  link: 'https://tranche.test/accept-invitation#token=inv_x',
  expiresAt: new Date('2027-01-31T00:00:00Z'),
};

test('an invitation is mailed as plain text to the one address, with its link', async () => {
  const { url, mails } = await startMailServer();
  const errors: unknown[] = [];
  const mail = createMail({ url, from: 'Tranche <tranche@example.com>', onError: (error) => errors.push(error) });
  mail.invite(invitation);
  await mail.close();
  expect(errors).toEqual([]);
  const [sent = ''] = mails;
  expect(sent).toMatch(/^From: Tranche <tranche@example\.com>$/m);
  expect(sent).toMatch(/^To: .*grace@example\.com/m);
  expect(sent).toMatch(/^Subject: Invitation to Studio North$/m);
  expect(sent.replaceAll('=\n', '').replaceAll('=3D', '=')).toContain(invitation.link);
  expect(sent).not.toMatch(/text\/html/);
});

test('words of people end up in no header of their own', async () => {
  const { url, mails } = await startMailServer();
  const mail = createMail({ url, from: 't@example.com', onError: (error) => expect.unreachable(String(error)) });
  mail.invite({ ...invitation, workspaceName: 'N\r\nBcc: evil@example.com', inviter: 'A\r\n\r\nB' });
  await mail.close();
  expect(mails[0]).not.toMatch(/^Bcc:/m);
});

test('a mail server that is not there is told to the log, without the link, and keeps nobody waiting', async () => {
  const { url, server } = await startMailServer();
  server.close();
  await once(server, 'close');
  const errors: unknown[] = [];
  const mail = createMail({ url, from: 't@example.com', onError: (error) => errors.push(error) });
  mail.invite(invitation);
  await mail.close();
  expect(errors).toHaveLength(1);
  expect(String(errors[0])).not.toContain('inv_x');
});
