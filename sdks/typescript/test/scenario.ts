// Plays the shared scenario with this client: each step as sdks/scenarios/README.md defines it.
// Is handed the client's module, so that the same steps run on the sources, on the built package and in another runtime.

import { camel, type Document, operationsOf, type SdkOperation } from '../../../scripts/sdk-operations.ts';
import type * as Sdk from '../src/index.ts';
import { differences, type Json } from './subset.ts';

export type Step = { readonly kind: string; readonly name?: string } & Readonly<Record<string, Json>>;
type Fields = Readonly<Record<string, Json>>;

export interface Surroundings {
  readonly sdk: typeof Sdk;
  readonly document: Document;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Handed to the client, where the global one is not to be used. */
  readonly fetch?: Sdk.Fetch;
}

const AT_ONCE = 8;
const RECEIVE_TIMEOUT_MS = 20_000;

// What differs between methods is looked up by name here; that names and types are right is for the compiler and the snippets to say.
type Methods = Readonly<Record<string, Readonly<Record<string, (...parameters: unknown[]) => unknown>>>>;

export class Scenario {
  readonly #given: Surroundings;
  readonly #operations: ReadonlyMap<string, SdkOperation>;
  readonly #variables = new Map<string, Json>();
  readonly #clients = new Map<string, Sdk.Tranche>();

  constructor(given: Surroundings) {
    this.#given = given;
    this.#operations = new Map(operationsOf(given.document).map((operation) => [operation.operationId, operation]));
    this.#variables.set('run', Math.random().toString(36).slice(2, 10));
    this.#variables.set('receiver_url', given.variables.TRANCHE_RECEIVER_URL ?? '');
    this.#variables.set('sdk', 'typescript');
  }

  /** Throws when the step does not do what it says. */
  async play(given: Step): Promise<void> {
    // What is repeated is filled in at each turn, when `{{index}}` is known.
    const { step: inner, ...outer } = given;
    const step = this.#fill(outer as Step) as Step;
    this.#refuseUnknown(step);
    if (fieldsOf(step.client).via === 'proxy') {
      await this.#control('POST', '/reset');
      for (const fault of (step.faults ?? []) as readonly Json[]) await this.#control('POST', '/faults', fault);
    }
    switch (step.kind) {
      case 'call':
        return this.#call(step);
      case 'repeat':
        return this.#repeat(inner as Step, Number(step.times));
      case 'paginate':
        return this.#paginate(step);
      case 'exhaust':
        return this.#exhaust(inner as Step, Number(step.at_most), step.expect as Json);
      case 'webhook':
        return this.#webhook(step);
      case 'receive':
        return this.#receive(step);
      case 'gap':
        return this.#gap(step);
      default:
        throw new Error(`There is no kind of step ${step.kind}.`);
    }
  }

  #refuseUnknown(step: Step): void {
    const unknown = Object.keys(step).filter(
      (field) => !(knownFields[step.kind] ?? []).includes(field) && !['kind', 'name', 'expect'].includes(field),
    );
    if (unknown.length > 0) throw new Error(`A ${step.kind} step has no ${unknown.join(', ')}.`);
  }

  async #call(step: Step): Promise<void> {
    const { result, error, response, exchanges, ...rest } = fieldsOf(step.expect);
    if (Object.keys(rest).length > 0) throw new Error(`A call cannot be expected to have ${Object.keys(rest).join(', ')}.`);
    const begun = Date.now();
    const outcome = await this.#perform(step).then(
      (done) => ({ ...done, error: undefined }),
      (thrown: unknown) => ({ data: undefined, response: undefined, error: thrown }),
    );
    const tookMs = Date.now() - begun;
    if (error === undefined) {
      if (outcome.error !== undefined) throw new Error(`It failed: ${describe(outcome.error)}`, { cause: outcome.error });
      if (result !== undefined) insist(result, asJson(outcome.data), 'result');
      if (response !== undefined) insist(response, responseJson(outcome.response as Sdk.ApiResponse), 'response');
      this.#capture(step, asJson(outcome.data));
    } else {
      if (outcome.error === undefined) throw new Error(`It succeeded: ${JSON.stringify(outcome.data)}`);
      insist(error, this.#errorJson(outcome.error), 'error');
    }
    if (exchanges !== undefined) await this.#insistOnExchanges(fieldsOf(exchanges), tookMs);
  }

  /** Calls the typed method of an operation. */
  async #perform(step: Step): Promise<{ data: unknown; response: Sdk.ApiResponse }> {
    const call = this.#method(step)() as Sdk.Call<unknown>;
    return call.withResponse();
  }

  #method(step: Step): () => unknown {
    const operation = this.#operations.get(step.operation as string);
    if (operation === undefined) throw new Error(`There is no operation ${String(step.operation)}.`);
    const client = this.#client(fieldsOf(step.client)) as unknown as Methods;
    const resource = client[camel(operation.resource)];
    const method = camel(operation.name);
    if (typeof resource?.[method] !== 'function') throw new Error(`The client has no ${camel(operation.resource)}.${method}.`);
    const path = fieldsOf(step.path);
    const ids = operation.pathParameters.map(({ name }) => path[name]);
    const payload = operation.body !== null ? [step.body] : operation.query.length > 0 ? [step.query] : [];
    const { idempotency_key, if_match, if_none_match } = fieldsOf(step.options);
    const options = {
      ...(idempotency_key === undefined ? {} : { idempotencyKey: idempotency_key }),
      ...(if_match === undefined ? {} : { ifMatch: if_match }),
      ...(if_none_match === undefined ? {} : { ifNoneMatch: if_none_match }),
      ...(step.raw_header === undefined ? {} : { headers: step.raw_header }),
      ...(step.cancel_after_ms === undefined ? {} : { signal: AbortSignal.timeout(Number(step.cancel_after_ms)) }),
    };
    return () => resource[method]?.(...ids, ...payload, options);
  }

  async #repeat(inner: Step, times: number): Promise<void> {
    await inParallel(times, AT_ONCE, async (index) => {
      await this.#call(this.#fill(inner, index) as Step);
      return true;
    });
  }

  async #exhaust(inner: Step, atMost: number, expect: Json): Promise<void> {
    const failures: unknown[] = [];
    await inParallel(atMost, AT_ONCE, async (index) => {
      await this.#perform(this.#fill(inner, index) as Step).catch((error: unknown) => failures.push(error));
      return failures.length === 0;
    });
    if (failures.length === 0) throw new Error(`None of ${atMost} calls failed.`);
    insist(fieldsOf(expect).error as Json, this.#errorJson(failures[0]), 'error');
  }

  async #paginate(step: Step): Promise<void> {
    const { count, first, last, each, exchanges } = fieldsOf(step.expect);
    const items: Json[] = [];
    const begun = Date.now();
    for await (const item of this.#method(step)() as AsyncIterable<unknown>) {
      items.push(asJson(item));
      if (items.length === step.take) break;
    }
    if (count !== undefined) insist(count, items.length, 'count');
    if (first !== undefined) insist(first, items[0], 'first');
    if (last !== undefined) insist(last, items.at(-1), 'last');
    for (const item of each === undefined ? [] : items) insist(each as Json, item, 'each');
    const ids = new Set(items.map((item) => fieldsOf(item).id));
    insist(items.length, ids.size, 'different ids');
    if (exchanges !== undefined) await this.#insistOnExchanges(fieldsOf(exchanges), Date.now() - begun);
  }

  async #insistOnExchanges(expected: Fields, tookMs: number): Promise<void> {
    const { exchanges } = (await this.#control('GET', '/exchanges')) as { exchanges: readonly { headers: Record<string, string> }[] };
    if (expected.count !== undefined) insist(expected.count, exchanges.length, 'exchanges');
    if (exchanges.length < Number(expected.at_least ?? 0)) throw new Error(`There were ${exchanges.length} exchanges.`);
    if (expected.idempotency_keys !== undefined) {
      const keys = exchanges.map(({ headers }) => headers['idempotency-key']).filter((key) => key !== undefined);
      insist(expected.idempotency_keys, new Set(keys).size, 'idempotency keys');
    }
    for (const { headers } of exchanges) {
      if (!headers['user-agent']?.startsWith(String(expected.user_agent ?? ''))) throw new Error(`user-agent: ${headers['user-agent']}`);
    }
    if (tookMs < Number(expected.took_at_least_ms ?? 0)) throw new Error(`It took ${tookMs} ms.`);
  }

  #webhook(step: Step): void {
    const { sdk } = this.#given;
    const payload =
      step.payload_base64 === undefined ? String(step.payload) : Uint8Array.from(atob(String(step.payload_base64)), (c) => c.charCodeAt(0));
    const options = {
      now: () => new Date(Number(step.now) * 1_000),
      ...(step.tolerance_seconds === undefined ? {} : { toleranceSeconds: Number(step.tolerance_seconds) }),
    };
    const given = [payload, step.headers as Record<string, string>, step.secrets as string[], options] as const;
    let actual: Record<string, unknown>;
    try {
      if (step.check === 'signature') {
        sdk.verifyWebhookSignature(...given);
        actual = { ok: true };
      } else actual = { event: eventJson(this.#client({}).webhooks.verify(...given)) };
    } catch (error) {
      actual = { error: this.#errorJson(error) };
    }
    insist(step.expect as Json, actual, 'webhook');
  }

  async #receive(step: Step): Promise<void> {
    const end = Date.now() + RECEIVE_TIMEOUT_MS;
    for (let count = 1; Date.now() < end; count++) {
      const wait = `wait_ms=${end - Date.now()}`;
      const { received } = (await this.#control('GET', `/received?path=${step.at}&count=${count}&${wait}`)) as {
        received: readonly { headers: Record<string, string>; body_base64: string }[];
      };
      for (const { headers, body_base64 } of received) {
        const body = Uint8Array.from(atob(body_base64), (c) => c.charCodeAt(0));
        if (JSON.parse(new TextDecoder().decode(body)).event !== step.event) continue;
        const event = eventJson(this.#client({}).webhooks.verify(body, headers, step.secrets as string[]));
        insist(fieldsOf(step.expect).event as Json, event, 'event');
        this.#capture(step, event as Json);
        return;
      }
      count = received.length;
    }
    throw new Error(`No ${String(step.event)} came.`);
  }

  async #gap(step: Step): Promise<void> {
    const detector = this.#client({}).webhooks.gapDetector({
      ...(step.last_seq === undefined ? {} : { lastSeq: Number(step.last_seq) }),
      ...(step.event_types === undefined ? {} : { eventTypes: step.event_types as Sdk.EventType[] }),
    });
    const seen: Json[] = [];
    for (const { seq = null, prev_seq = null } of step.observe as readonly { seq?: number; prev_seq?: number }[]) {
      seen.push(asJson(await detector.observe({ seq, prevSeq: prev_seq })));
    }
    insist(step.expect as Json, seen, 'observations');
  }

  #client({ via, api_key, max_retries, timeout_ms }: Fields): Sdk.Tranche {
    const { sdk, variables, fetch } = this.#given;
    const name = JSON.stringify([via, api_key, max_retries, timeout_ms]);
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = new sdk.Tranche({
      apiKey: (api_key ?? variables.TRANCHE_API_KEY) as string,
      baseUrl: (via === 'proxy' ? variables.TRANCHE_PROXY_URL : variables.TRANCHE_BASE_URL) as string,
      ...(max_retries === undefined ? {} : { maxRetries: Number(max_retries) }),
      ...(timeout_ms === undefined ? {} : { timeoutMs: Number(timeout_ms) }),
      ...(fetch === undefined ? {} : { fetch }),
    });
    this.#clients.set(name, client);
    return client;
  }

  async #control(method: string, path: string, body?: Json): Promise<unknown> {
    const answer = await fetch(`${this.#given.variables.TRANCHE_CONTROL_URL}${path}`, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  #errorJson(error: unknown): Json {
    const { sdk } = this.#given;
    if (!(error instanceof sdk.TrancheError)) throw new Error(`That is no error of the client: ${describe(error)}`, { cause: error });
    const named = (sdk as unknown as Record<string, unknown>)[error.name];
    if (typeof named !== 'function' || !(error instanceof named)) throw new Error(`It is called ${error.name} and is none.`);
    const parts: Record<string, unknown> = { class: error.name };
    if (error instanceof sdk.ApiError) {
      const { code, status, requestId, message, retryAfterSeconds, fieldErrors } = error;
      Object.assign(parts, {
        code,
        status,
        request_id: requestId,
        detail: message,
        retry_after_seconds: retryAfterSeconds,
        field_errors: fieldErrors,
      });
    }
    if (error instanceof sdk.WebhookVerificationError) parts.reason = error.reason;
    return parts as Json;
  }

  #capture(step: Step, result: Json): void {
    for (const [variable, path] of Object.entries(fieldsOf(step.capture))) {
      let value: Json | undefined = result;
      for (const key of String(path).split('.')) value = (value as Record<string, Json> | undefined)?.[key];
      if (value === undefined) throw new Error(`There is no ${String(path)} to capture.`);
      this.#variables.set(variable, value);
    }
  }

  #fill(value: Json, index?: number): Json {
    if (typeof value === 'string') {
      const whole = /^\{\{([\w:]+)\}\}$/.exec(value)?.[1];
      if (whole !== undefined) return this.#variable(whole, index);
      return value.replace(/\{\{([\w:]+)\}\}/g, (_, name: string) => String(this.#variable(name, index)));
    }
    if (Array.isArray(value)) return value.map((one: Json) => this.#fill(one, index));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#fill(one as Json, index)]));
  }

  #variable(name: string, index: number | undefined): Json {
    if (name === 'index' && index !== undefined) return index;
    if (name.startsWith('big:')) return 'x'.repeat(Number(name.slice('big:'.length)));
    const value = this.#variables.get(name);
    if (value === undefined) throw new Error(`Nothing has captured ${name}.`);
    return value;
  }
}

const callFields = ['operation', 'path', 'query', 'body', 'options', 'client', 'faults', 'capture', 'raw_header', 'cancel_after_ms'];
const knownFields: Readonly<Record<string, readonly string[]>> = {
  call: callFields,
  repeat: ['times'],
  paginate: ['operation', 'path', 'query', 'client', 'faults', 'take'],
  exhaust: ['at_most'],
  webhook: ['check', 'payload', 'payload_base64', 'headers', 'secrets', 'now', 'tolerance_seconds'],
  receive: ['at', 'event', 'secrets', 'capture'],
  gap: ['last_seq', 'event_types', 'observe'],
};

const fieldsOf = (value: Json | undefined): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const asJson = (value: unknown): Json => (value === undefined ? null : JSON.parse(JSON.stringify(value)));
const describe = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

function insist(expected: Json, actual: unknown, what: string): void {
  const found = differences(expected, actual);
  if (found.length > 0) throw new Error(`${what}: ${found.join('; ')}`);
}

function eventJson({ event, data, id, timestamp, seq, prevSeq, attempt }: Sdk.WebhookEvent): Record<string, unknown> {
  return { event, data, id, timestamp: timestamp.getTime() / 1_000, seq, prev_seq: prevSeq, attempt };
}

function responseJson({ status, headers, requestId, rateLimit, replayed }: Sdk.ApiResponse): Record<string, unknown> {
  const limit =
    rateLimit === null ? null : { limit: rateLimit.limit, remaining: rateLimit.remaining, reset_seconds: rateLimit.resetSeconds };
  return { status, headers: Object.fromEntries(headers), request_id: requestId, rate_limit: limit, replayed };
}

/** Calls `turn` with 0, 1, 2 … up to `times`, some at once, until one returns false. */
async function inParallel(times: number, atOnce: number, turn: (index: number) => Promise<boolean>): Promise<void> {
  let next = 0;
  let goesOn = true;
  const worker = async (): Promise<void> => {
    while (goesOn && next < times) if (!(await turn(next++))) goesOn = false;
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
