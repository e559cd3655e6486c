// Server-Sent Events read from a body: bytes in, messages out.
// Opens no connection and knows no event; who comes back after a break is the caller's business.

export interface StreamMessage {
  /** The place in the stream after this message; null where the message names none. */
  readonly id: string | null;
  /** Null: the message carries nothing but, perhaps, a place. */
  readonly data: string | null;
}

/** More than any message of this service; a body without line breaks ends here and not in all of the memory. */
const MAX_MESSAGE_CHARACTERS = 4 * 1024 * 1024;

/** Comments, `retry` and fields of no concern are passed over; a message that is cut off at the end is dropped, as the format asks. */
export async function* readMessages(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_MESSAGE_CHARACTERS) throw new Error('A message of the stream is longer than any that this server sends.');
    // A message ends at a blank line, whatever ends the lines.
    for (let end = /\r\n\r\n|\n\n|\r\r/.exec(rest); end !== null; end = /\r\n\r\n|\n\n|\r\r/.exec(rest)) {
      const message = parseMessage(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
      if (message.id !== null || message.data !== null) yield message;
    }
  }
}

function parseMessage(text: string): StreamMessage {
  let id: string | null = null;
  const data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    const [field, value] = colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }
  return { id, data: data.length === 0 ? null : data.join('\n') };
}
