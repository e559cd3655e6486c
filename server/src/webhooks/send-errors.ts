// Why a webhook got no answer: a word for programs, a sentence for people, and how errors of the network become one.
// Sentences are fixed, so that nothing of the network around the server shows in what its users read.

import { errors } from 'undici';
import type { AttemptErrorKind } from '../domain/delivery.ts';

/** Why no answer arrived, where something was to be sent. */
export type SendError = Exclude<AttemptErrorKind, 'not_sent'>;

export const sendErrors = {
  invalid_url: 'the URL is not an http or https URL without user name and password',
  blocked_address: 'the host is or resolves to an address that webhooks are not sent to',
  dns_not_found: 'the host name does not exist, or has no address',
  dns_failed: 'the host name could not be resolved',
  dns_timeout: 'the name servers did not answer in time',
  connection_refused: 'the host refused the connection: nothing listens on that port',
  connection_reset: 'the connection was closed before an answer arrived',
  connect_timeout: 'the host did not accept a connection in time',
  host_unreachable: 'the host could not be reached',
  connection_failed: 'the connection failed',
  tls_error: 'no secure connection could be made; check the certificate',
  timeout: 'no answer arrived in time',
  invalid_response: 'the answer was not valid HTTP',
} as const satisfies Record<SendError, string>;

/** The host is, or resolves to, an address out of bounds. */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  /** What kind of address it is, such as `private`. */
  readonly range: string;

  constructor(range: string) {
    super('blocked address');
    this.range = range;
  }
}

const errorCodes: Readonly<Record<string, SendError>> = {
  BLOCKED_ADDRESS: 'blocked_address',
  ENOTFOUND: 'dns_not_found',
  ENODATA: 'dns_not_found',
  EAI_AGAIN: 'dns_failed',
  EAI_FAIL: 'dns_failed',
  ESERVFAIL: 'dns_failed',
  EREFUSED: 'dns_failed',
  EFORMERR: 'dns_failed',
  ENOTIMP: 'dns_failed',
  EBADNAME: 'dns_failed',
  EBADRESP: 'dns_failed',
  ECANCELLED: 'dns_timeout',
  ETIMEOUT: 'dns_timeout',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ENETDOWN: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_response',
  EPROTO: 'tls_error',
  HOSTNAME_MISMATCH: 'tls_error',
};

/** OpenSSL's and Node's names for what is wrong with a secure connection or a certificate. */
const tlsCode = /^ERR_(TLS|SSL)_|CERT|^CRL_|^UNABLE_TO_|_CHAIN|^PATH_LENGTH|^INVALID_(CA|PURPOSE)$/;

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

export function classify(error: unknown): SendError {
  // The parser's errors do not all carry a code.
  if (error instanceof errors.HTTPParserError) return 'invalid_response';
  const code = codeOf(error);
  return errorCodes[code] ?? (tlsCode.test(code) ? 'tls_error' : 'connection_failed');
}

/** The sentence, with what is known exactly in brackets: the range of a blocked address, or the code of the system, of TLS or of the parser. */
export function describe(kind: SendError, error: unknown): string {
  const exact = error instanceof BlockedAddress ? error.range : codeOf(error);
  return /^[A-Za-z0-9_ -]{1,60}$/.test(exact) && !exact.startsWith('UND_ERR') ? `${sendErrors[kind]} (${exact})` : sendErrors[kind];
}
