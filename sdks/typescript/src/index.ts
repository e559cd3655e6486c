// What the package offers. Anything not named here may change at any time.
// Re-exports only.

export { Call, type WithResponse } from './call.ts';
export { Tranche, Webhooks } from './client.ts';
export {
  ApiAbortedError,
  ApiConnectionError,
  ApiError,
  type ApiErrorParts,
  ApiTimeoutError,
  TrancheError,
  UnexpectedAnswerError,
  type WebhookRefusal,
  WebhookVerificationError,
} from './errors.ts';
export { EventStream } from './event-stream.ts';
export { GapDetector, type GapDetectorOptions, type Numbered, type Observation, webhookEventOf } from './gap-detector.ts';
export * from './generated/errors.ts';
export type * from './generated/resources.ts';
export type * from './generated/types.ts';
export { version } from './generated/version.ts';
export {
  expressWebhookHandler,
  type FastifyLike,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyWebhooks,
  fetchWebhookHandler,
  type NodeRequest,
  type NodeResponse,
  type WebhookHandlerOptions,
} from './handlers.ts';
export { ListCall, Page, type PageBody } from './list.ts';
export type { CallOptions, Fetch, StreamOptions, TrancheOptions } from './options.ts';
export { ApiResponse, type RateLimit } from './response.ts';
export {
  type HeadersLike,
  type Payload,
  type VerifyOptions,
  verifyWebhook,
  verifyWebhookSignature,
  type WebhookDetails,
  type WebhookEvent,
} from './webhooks.ts';
