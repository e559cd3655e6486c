// What a diagnosis means for the people who run a receiver: one or two sentences that say what to do.
// Pure; looks at what was found and at nothing else.

import type { DiagnosisVerdict, WebhookDiagnosis } from '../schemas/webhook-tests.ts';

type Steps = Pick<WebhookDiagnosis, 'dns' | 'connection' | 'tls' | 'ping'>;

/** A certificate that ends sooner is worth a word while all is well. */
const SOON_DAYS = 14;
/** An answer that takes longer is at risk: a delivery is given up after 15 s. */
const SLOW_MS = 3_000;

const hints = {
  healthy: ({ ping, tls }) => {
    const daysLeft = tls?.chain[0]?.days_left;
    const status = `The receiver acknowledged a signed ping with ${ping?.status_code} after ${ping?.duration_ms} ms.`;
    if (daysLeft !== undefined && daysLeft < SOON_DAYS) return `${status} Its certificate ends in ${daysLeft} days: renew it.`;
    if (ping !== null && ping.duration_ms > SLOW_MS) return `${status} That is slow: acknowledge first and do the work afterwards.`;
    return status;
  },
  invalid_url: () => 'The URL is not an http or https URL without user name and password. Give the endpoint another one.',
  dns_failed: ({ dns }) => `${dns?.host} does not resolve: ${dns?.error}. Check the name, and that its DNS records are published.`,
  blocked_address: ({ dns }) =>
    `${dns?.host} leads to an address that webhooks are not sent to (${dns?.addresses.find(({ blocked }) => blocked !== null)?.blocked}). Use a public address, or ask the operator of this server to set WEBHOOK_NETWORK.`,
  connection_failed: ({ connection }) =>
    `Port ${connection?.port} of ${connection?.address} cannot be reached: ${connection?.error}. Check that the receiver runs, and that its firewall lets this server through.`,
  tls_failed: ({ tls }) =>
    tls?.chain.length === 0
      ? `No secure connection could be made (${tls.error}). Check that the port speaks TLS, or whether the URL should begin with http.`
      : certificateHint(tls?.error ?? '', tls?.chain[0]),
  no_answer: ({ ping }) => `The connection stands, but the signed ping got no answer: ${ping?.error}. Look into the log of the receiver.`,
  redirected: ({ ping }) =>
    `The receiver answered ${ping?.status_code}, a redirect, and webhooks follow none. Give the endpoint the address that it leads to.`,
  gone: () => 'The receiver answered 410 Gone. A delivery that gets this answer disables the endpoint.',
  rejected: ({ ping }) => rejectionHint(ping?.status_code ?? 0),
} as const satisfies Record<DiagnosisVerdict, (steps: Steps) => string>;

type Certificate = NonNullable<Steps['tls']>['chain'][number];

function certificateHint(code: string, certificate: Certificate | undefined): string {
  const begin = `The certificate is not accepted (${code}).`;
  if (code === 'CERT_HAS_EXPIRED') return `${begin} It ended on ${certificate?.valid_until.slice(0, 10)}: renew it.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${begin} It is made for ${certificate?.names.join(', ') || 'no name'}: get one for this host.`;
  if (/SELF_SIGNED|UNABLE_TO|ISSUER/.test(code))
    return `${begin} Its authority is not known here: use one that is publicly trusted, and have the server send the whole chain.`;
  return `${begin} Renew it, and check that the server sends the whole chain.`;
}

function rejectionHint(status: number): string {
  const begin = `The receiver answered ${status} to a signed ping; only a 2xx acknowledges.`;
  if (status === 401 || status === 403)
    return `${begin} Check that it verifies the signature with the secret of this endpoint, and that nothing in front of it asks for a login.`;
  if (status === 404 || status === 405) return `${begin} Check the path of the URL, and that it takes POST.`;
  if (status === 400 || status === 422)
    return `${begin} It may refuse the kind of event "ping", which only diagnoses send; send a test of a real kind to be sure.`;
  if (status >= 500) return `${begin} Look into the log of the receiver.`;
  return `${begin} Look at what it says.`;
}

export const hintOf = (verdict: DiagnosisVerdict, steps: Steps): string => hints[verdict](steps);
