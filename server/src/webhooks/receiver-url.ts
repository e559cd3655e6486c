// Whether a URL may become an endpoint's, as far as its text shows: what is bound to be refused when it is called is refused at once.
// Resolves nothing: a name is judged by what it resolves to at each connection, not by what it did when it was registered.

import { isIP } from 'node:net';
import { blockedRange, type NetworkPolicy } from './network-policy.ts';

/** Endings of names that no name server of the internet answers for: local networks, clusters, clouds and special uses. */
const LOCAL_ENDINGS = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'cluster.local',
  'invalid',
  'test',
  'onion',
  'alt',
];

/** Names under which a cloud has its metadata service beside the address. */
const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal']);

/** What would be right, as a sentence for the caller; null where the URL may stay. */
export function refuseReceiver(text: string, policy: NetworkPolicy): string | null {
  const url = URL.parse(text);
  if (url === null) return 'Must be an absolute http or https URL.';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (url.port === '0') return 'Must not name port 0: nothing can listen there.';
  if (isIP(host) !== 0) {
    const range = blockedRange(host, policy);
    return range === null ? null : `Must lead to ${wantedUnder(policy)}; ${host} is not one (${range}).`;
  }
  if (METADATA_NAMES.has(host)) return `Must lead to ${wantedUnder(policy)}; ${host} is not one (cloud metadata).`;
  if (policy === 'any') return null;
  const isLocal = !host.includes('.') || LOCAL_ENDINGS.some((ending) => host === ending || host.endsWith(`.${ending}`));
  return isLocal ? `Must lead to ${wantedUnder(policy)}; ${host} is a name of a local network. WEBHOOK_NETWORK=any lets it through.` : null;
}

const wantedUnder = (policy: NetworkPolicy): string =>
  policy === 'public' ? 'a public address of the internet' : 'an address that webhooks may be sent to';
