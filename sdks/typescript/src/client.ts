// The client: every resource of the API, and its webhooks, with one key and one address.
// Only puts the parts together.

import { GapDetector, type GapDetectorOptions } from './gap-detector.ts';
import { Resources } from './generated/resources.ts';
import { settingsOf, type TrancheOptions } from './options.ts';
import { Transport } from './transport.ts';
import { type HeadersLike, type Payload, type VerifyOptions, verifyWebhook, type WebhookEvent } from './webhooks.ts';

export class Tranche extends Resources {
  readonly webhooks: Webhooks;

  constructor(options: TrancheOptions = {}) {
    super(new Transport(settingsOf(options)));
    this.webhooks = new Webhooks(this);
  }
}

/** What a receiver of webhooks needs. */
export class Webhooks {
  readonly #client: Tranche;

  constructor(client: Tranche) {
    this.#client = client;
  }

  /**
   * The event that a webhook tells of; throws a `WebhookVerificationError` unless it is authentic and recent.
   * `payload` must be the body exactly as it came, before any parsing. While a secret is being rotated, give both.
   */
  verify(payload: Payload, headers: HeadersLike, secret: string | readonly string[], options: VerifyOptions = {}): WebhookEvent {
    return verifyWebhook(payload, headers, secret, options);
  }

  /** Sees when webhooks are missing and reads them from the event log. */
  gapDetector(options: GapDetectorOptions = {}): GapDetector {
    return new GapDetector((query) => this.#client.events.list(query), options);
  }
}
