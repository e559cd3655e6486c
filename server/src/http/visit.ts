// Where a request comes from, behind as many proxies as the configuration trusts; and the addresses of our own pages.
// Reads headers and the socket; asks nobody.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Visit } from '../accounts/identity.ts';
import { MAX_USER_AGENT_LENGTH, type Origin } from '../domain/person.ts';

export interface VisitOptions {
  /** How many proxies stand in front, each of which adds to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Where browsers reach this server; null where it is not configured. */
  readonly publicUrl: string | null;
}

export function createVisits({ trustedProxies, publicUrl }: VisitOptions) {
  /**
   * The address that the outermost trusted proxy saw. Hops are counted before anything is said about them: what stands to the left is the
   * client's own word, and must not move up because a proxy wrote something that is no address.
   */
  function addressOf(request: IncomingMessage): string | null {
    const { remoteAddress = null } = request.socket;
    if (trustedProxies === 0) return remoteAddress;
    // Several lines of the header are one list.
    const hop = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-trustedProxies);
    return (hop === undefined ? null : addressIn(hop)) ?? remoteAddress;
  }

  function originOf(request: IncomingMessage): Origin {
    const agent = headerOf(request, 'user-agent').replace(/[^\x20-\x7e]/g, '?');
    return { ip: addressOf(request), userAgent: agent === '' ? null : agent.slice(0, MAX_USER_AGENT_LENGTH) };
  }

  /** Believed of any client: whoever says https without it only keeps their own cookie from themselves. */
  const cameOverTls = (request: IncomingMessage): boolean =>
    publicUrl?.startsWith('https:') === true || /^https\b/i.test(headerOf(request, 'x-forwarded-proto'));

  return {
    originOf,
    visitOf: (request: IncomingMessage): Visit => ({
      cookie: request.headers.cookie ?? null,
      origin: originOf(request),
      secure: cameOverTls(request),
    }),
    /** The address of one of our pages, as whoever asks reaches us. A token stands behind `#`, which browsers send to nobody. */
    linkTo(path: string, request: IncomingMessage): string {
      if (publicUrl !== null) return `${publicUrl}${path}`;
      return `${cameOverTls(request) ? 'https' : 'http'}://${headerOf(request, 'host')}${path}`;
    },
  };
}

const headerOf = (request: IncomingMessage, name: string): string => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
};

/** The address of a hop, which some proxies write with a port or in brackets; null where it is none, such as `unknown`. */
function addressIn(hop: string): string | null {
  const plain = hop.trim();
  const [, bracketed, beforePort] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(plain) ?? [];
  const address = bracketed ?? beforePort ?? plain;
  // A zone is a name of the proxy's own, of any length and form.
  return isIP(address) !== 0 && !address.includes('%') ? address : null;
}
