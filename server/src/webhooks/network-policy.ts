// Which addresses a webhook may be sent to: what keeps an endpoint's URL from reaching into the network this server stands in.
// Pure: decides on addresses, resolves no names and opens no connections.

import { BlockList, isIP } from 'node:net';

/** `public`: addresses of the internet only. `any`: loopback and private networks too, for receivers beside the server. */
export type NetworkPolicy = 'public' | 'any';

/** A range that is refused, and the word by which people are told of it. */
type Range = readonly [network: string, word: string];

/**
 * Refused under every policy: addresses at which a cloud hands out credentials, groups, and forms of IPv6 that carry an IPv4 address,
 * through which all the rest could be reached under another name.
 */
const neverReached: { readonly ipv4: readonly Range[]; readonly ipv6: readonly Range[] } = {
  ipv4: [
    ['169.254.0.0/16', 'link-local'], // Where most clouds have their metadata service.
    ['100.100.100.200/32', 'cloud metadata'], // Alibaba Cloud.
    ['168.63.129.16/32', 'cloud metadata'], // Azure; a public address by its number.
    ['192.0.0.192/32', 'cloud metadata'], // Oracle Cloud.
    ['224.0.0.0/4', 'multicast'],
    ['255.255.255.255/32', 'broadcast'],
  ],
  ipv6: [
    ['fe80::/10', 'link-local'],
    ['fec0::/10', 'site-local'], // Deprecated.
    ['fd00:ec2::/32', 'cloud metadata'], // AWS.
    ['fd20:ce::/32', 'cloud metadata'], // Google Cloud.
    ['ff00::/8', 'multicast'],
    ['::ffff:0:0/96', 'IPv4-mapped'],
    ['::ffff:0:0:0/96', 'IPv4-translated'],
    ['::a9fe:0/112', 'IPv4-compatible'], // The link-local addresses above in a form that nobody uses any more.
    // NAT64 of all of the above.
    ['64:ff9b::a9fe:0/112', 'NAT64'],
    ['64:ff9b::6464:64c8/128', 'NAT64'],
    ['64:ff9b::a83f:8110/128', 'NAT64'],
    ['64:ff9b::c000:c0/128', 'NAT64'],
    ['64:ff9b::e000:0/100', 'NAT64'],
    ['64:ff9b::ffff:ffff/128', 'NAT64'],
    ['64:ff9b:1::/48', 'NAT64'], // For local use.
    ['2001::/32', 'Teredo'],
    ['2002::/16', '6to4'],
  ],
};

/** Refused under `public` on top of those: special-purpose ranges of the IANA registries that are not globally reachable. */
const notPublic: { readonly ipv4: readonly Range[]; readonly ipv6: readonly Range[] } = {
  ipv4: [
    ['0.0.0.0/8', 'this network'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'carrier-grade NAT'],
    ['127.0.0.0/8', 'loopback'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'reserved'], // Protocol assignments.
    ['192.0.2.0/24', 'documentation'],
    ['192.88.99.0/24', 'reserved'], // Former 6to4 relays.
    ['192.168.0.0/16', 'private'],
    ['198.18.0.0/15', 'reserved'], // Benchmarking.
    ['198.51.100.0/24', 'documentation'],
    ['203.0.113.0/24', 'documentation'],
    ['240.0.0.0/4', 'reserved'],
  ],
  ipv6: [
    ['::1/128', 'loopback'],
    ['::/96', 'IPv4-compatible'],
    ['fc00::/7', 'private'], // Unique local.
    ['64:ff9b::/96', 'NAT64'],
    ['2001:db8::/32', 'documentation'],
    ['3fff::/20', 'documentation'],
    ['2001::/23', 'reserved'], // Protocol assignments: Teredo, benchmarking, ORCHID.
    // All that lies outside of the global unicast range, 2000::/3.
    ['::/3', 'reserved'],
    ['4000::/2', 'reserved'],
    ['8000::/1', 'reserved'],
  ],
};

interface Checked {
  readonly word: string;
  readonly list: BlockList;
}

// A list for each range: a list of both families would match an IPv4 address against the range of mapped ones.
function listsOf(ranges: readonly Range[], family: 'ipv4' | 'ipv6'): Checked[] {
  return ranges.map(([range, word]) => {
    const [network, bits] = range.split('/') as [string, string];
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family);
    return { word, list };
  });
}

const never = { ipv4: listsOf(neverReached.ipv4, 'ipv4'), ipv6: listsOf(neverReached.ipv6, 'ipv6') };
const special = { ipv4: listsOf(notPublic.ipv4, 'ipv4'), ipv6: listsOf(notPublic.ipv6, 'ipv6') };

/** Why no connection to this IP address may be opened, as the word for its range; null when it may. What is no plain address may not. */
export function blockedRange(address: string, policy: NetworkPolicy): string | null {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return 'not an address';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const covers = ({ list }: Checked): boolean => list.check(address, family);
  return (never[family].find(covers) ?? (policy === 'public' ? special[family].find(covers) : undefined))?.word ?? null;
}

/** Whether a connection to this IP address, in any text form that has no brackets, may be opened. */
export function isAllowedAddress(address: string, policy: NetworkPolicy): boolean {
  return blockedRange(address, policy) === null;
}
