// Where a request comes from, behind as many proxies as the configuration trusts; and the addresses of our own pages.
// Reads headers and the socket; asks nobody.

import type { IncomingMessage } from 'node:http';
import type { Visit } from '../accounts/identity.ts';
import { MAX_USER_AGENT_LENGTH, type Origin } from '../domain/person.ts';

export interface VisitOptions {
  /** How many proxies stand in front, each of which adds to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** Where browsers reach this server; null where it is not configured. */
  readonly publicUrl: string | null;
}

export function createVisits({ trustedProxies, publicUrl }: VisitOptions) {
  /** The address that the outermost trusted proxy saw. What stands before it in the header is the client's own word, and is not believed. */
  function addressOf(request: IncomingMessage): string | null {
    const { remoteAddress = null } = request.socket;
    if (trustedProxies === 0) return remoteAddress;
    const hops = headerOf(request, 'x-forwarded-for')
      .split(',')
      .map((hop) => hop.trim())
      .filter((hop) => /^[0-9a-fA-F.:]{2,45}$/.test(hop));
    return hops.at(-trustedProxies) ?? hops[0] ?? remoteAddress;
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
