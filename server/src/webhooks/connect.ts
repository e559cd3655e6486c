// Opens connections to checked addresses only, and notes where each one leads.
// Sends nothing. A name is resolved once for a connection, which is then pinned to the very addresses that were checked.

import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { blockedRange, type NetworkPolicy } from './network-policy.ts';
import type { Resolve } from './resolve.ts';
import { BlockedAddress } from './send-errors.ts';

/** To one of several addresses; then the next is tried. Node's 250 ms would give up on receivers that are merely far away. */
const ATTEMPT_TIMEOUT_MS = 2_500;
/** From the look-up of the name to the end of the TLS handshake; below the sender's own limit, which then can say what took so long. */
export const CONNECT_TIMEOUT_MS = 10_000;
const TCP_KEEP_ALIVE_MS = 60_000;

/** Of the connection that a request goes over: how far it is, and where it leads. */
export interface ConnectionTrace {
  remoteAddress: string | null;
  stage: 'idle' | 'resolving' | 'connecting' | 'open';
}

export interface ConnectorOptions {
  readonly policy: NetworkPolicy;
  readonly resolve: Resolve;
  /** The sender's own limit, where it is the shorter one. */
  readonly timeoutMs: number;
  readonly ca?: string | undefined;
  /** Opens a socket; that of the operating system by default. */
  readonly dial?: Dial | undefined;
}

export type Dial = (target: DialTarget) => Socket;

export interface DialTarget {
  /** A name, or an address without brackets that was checked. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Where a name leads. Whoever dials connects to these addresses and asks nobody else. */
  readonly lookup: LookupFunction;
  readonly ca: string | undefined;
}

export interface Connectors {
  readonly connectorFor: ConnectorFor;
  /** Lets go of all connections that do not stand yet. */
  cut(): void;
}

/** Makes the connector of one connection, which notes its progress in the trace that it is handed. */
export type ConnectorFor = (trace: ConnectionTrace) => buildConnector.connector;

export function createConnectors({ policy, resolve, timeoutMs, ca, dial = open }: ConnectorOptions): Connectors {
  const opening = new Set<Socket>();
  const limitMs = Math.min(timeoutMs, CONNECT_TIMEOUT_MS);
  const connectorFor: ConnectorFor = (trace) => (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    trace.remoteAddress = null;
    trace.stage = 'connecting';
    // An address by itself is never looked up, so it is checked here.
    const blocked = isIP(host) === 0 ? null : refuse([host], policy);
    if (blocked !== null) return callback(blocked, null);
    const isSecure = target.protocol === 'https:';
    const port = Number(target.port === '' ? (isSecure ? 443 : 80) : target.port);
    const socket = dial({ host, port, isSecure, lookup: createLookup(policy, resolve, trace), ca });
    note(socket, trace);
    opening.add(socket);
    settle(socket, { ready: isSecure ? 'secureConnect' : 'connect', trace, limitMs }, (...outcome) => {
      opening.delete(socket);
      callback(...outcome);
    });
  };
  return {
    connectorFor,
    cut() {
      for (const socket of opening) socket.destroy();
    },
  };
}

/** One address out of bounds refuses them all: a name that mixes them is either a mistake or an attempt. */
function refuse(addresses: readonly string[], policy: NetworkPolicy): BlockedAddress | null {
  for (const address of addresses) {
    const range = blockedRange(address, policy);
    if (range !== null) return new BlockedAddress(range);
  }
  return null;
}

/** The connection is given the addresses that were checked, so that a second look-up cannot lead elsewhere. */
function createLookup(policy: NetworkPolicy, resolve: Resolve, trace: ConnectionTrace): LookupFunction {
  return (hostname, options, callback) => {
    trace.stage = 'resolving';
    resolve(hostname).then(
      (addresses) => {
        trace.stage = 'connecting';
        const first = addresses[0];
        if (first === undefined) return callback(Object.assign(new Error('no address'), { code: 'ENODATA' }), []);
        const list = addresses.map(({ address }) => address);
        const blocked = refuse(list, policy);
        if (blocked !== null) return callback(blocked, []);
        return options.all === true ? callback(null, [...addresses]) : callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function open({ host, port, isSecure, lookup, ca }: DialTarget): Socket {
  const common = {
    host,
    port,
    lookup,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
  };
  if (!isSecure) return connectTcp(common);
  // The name that the certificate must be made for; a dot at the end is no part of it. An address is not named in the handshake.
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const tls = { servername, ALPNProtocols: ['http/1.1'], ...(ca === undefined ? {} : { ca }) };
  return connectTls({ ...common, ...tls });
}

/** The last address that was tried is the one that a failure is about. */
function note(socket: Socket, trace: ConnectionTrace): void {
  socket.on('connectionAttempt', (address: string) => {
    trace.remoteAddress = address;
  });
  socket.once('connect', () => {
    trace.remoteAddress = socket.remoteAddress ?? trace.remoteAddress;
  });
}

interface Settling {
  readonly ready: 'connect' | 'secureConnect';
  readonly trace: ConnectionTrace;
  readonly limitMs: number;
}

/** Calls back once: when the connection stands, when it fails, or when it has taken too long. */
function settle(socket: Socket, { ready, trace, limitMs }: Settling, callback: buildConnector.Callback): void {
  let isSettled = false;
  const end = (error: Error | null): void => {
    clearTimeout(timer);
    if (isSettled) return;
    isSettled = true;
    if (error !== null) return callback(error, null);
    trace.stage = 'open';
    callback(null, socket);
  };
  const timer = setTimeout(() => {
    const code = trace.stage === 'resolving' ? 'ETIMEOUT' : 'ETIMEDOUT';
    socket.destroy(Object.assign(new Error('no connection in time'), { code }));
  }, limitMs);
  socket.once(ready, () => end(null));
  socket.on('error', end);
  // Destroyed without an error, which would otherwise leave the request waiting.
  socket.once('close', () => end(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
}
