// Which addresses a webhook may be sent to: what keeps an endpoint's URL from reaching into the network this server stands in.
// Pure: decides on addresses, resolves no names and opens no connections.

import { BlockList, isIP } from 'node:net';

/** `public`: addresses of the internet only. `any`: loopback and private networks too, for receivers beside the server. */
export type NetworkPolicy = 'public' | 'any';

/**
 * Refused under every policy: addresses at which a cloud hands out credentials, groups, and forms of IPv6 that carry an IPv4 address,
 * through which all the rest could be reached under another name.
 */
const neverReached = {
  ipv4: [
    '169.254.0.0/16', // Link-local, where most clouds have their metadata service.
    '100.100.100.200/32', // Metadata service of Alibaba Cloud.
    '168.63.129.16/32', // Host service of Azure; a public address by its number.
    '192.0.0.192/32', // Metadata service of Oracle Cloud.
    '224.0.0.0/4', // Multicast.
    '255.255.255.255/32', // Broadcast.
  ],
  ipv6: [
    'fe80::/10', // Link-local.
    'fec0::/10', // Site-local, deprecated.
    'fd00:ec2::/32', // Metadata service of AWS.
    'fd20:ce::/32', // Metadata service of Google Cloud.
    'ff00::/8', // Multicast.
    '::ffff:0:0/96', // IPv4-mapped.
    '::ffff:0:0:0/96', // IPv4-translated.
    '64:ff9b::a9fe:0/112', // NAT64 of the link-local addresses above.
    '64:ff9b:1::/48', // NAT64 for local use.
    '2001::/32', // Teredo.
    '2002::/16', // 6to4.
  ],
};

/** Refused under `public` on top of those: special-purpose ranges of the IANA registries that are not globally reachable. */
const notPublic = {
  ipv4: [
    '0.0.0.0/8', // This network.
    '10.0.0.0/8', // Private.
    '100.64.0.0/10', // Shared by carriers for NAT.
    '127.0.0.0/8', // Loopback.
    '172.16.0.0/12', // Private.
    '192.0.0.0/24', // Protocol assignments.
    '192.0.2.0/24', // Documentation.
    '192.88.99.0/24', // Former 6to4 relays.
    '192.168.0.0/16', // Private.
    '198.18.0.0/15', // Benchmarking.
    '198.51.100.0/24', // Documentation.
    '203.0.113.0/24', // Documentation.
    '240.0.0.0/4', // Reserved.
  ],
  // Within the global unicast range, which is the only one let through: loopback, unique-local and NAT64 lie outside of it.
  ipv6: [
    '2001::/23', // Protocol assignments: Teredo, benchmarking, ORCHID.
    '2001:db8::/32', // Documentation.
    '3fff::/20', // Documentation.
  ],
};

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string];
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

// One list per family: a list that holds both would match an IPv4 address against the range of mapped ones.
const never = { ipv4: listOf(neverReached.ipv4, 'ipv4'), ipv6: listOf(neverReached.ipv6, 'ipv6') };
const special = { ipv4: listOf(notPublic.ipv4, 'ipv4'), ipv6: listOf(notPublic.ipv6, 'ipv6') };
const globalUnicast = listOf(['2000::/3'], 'ipv6');

/** Whether a connection to this IP address, in any text form that has no brackets, may be opened. What is no address may not. */
export function isAllowedAddress(address: string, policy: NetworkPolicy): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (never[family].check(address, family)) return false;
  if (policy === 'any') return true;
  if (family === 'ipv6' && !globalUnicast.check(address, family)) return false;
  return !special[family].check(address, family);
}
