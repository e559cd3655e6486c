// A technical name, such as a path or a kind of event, that may go on in the next line after a dot, a slash or an underscore.
// Reads and copies as the one word that it is.

import { Fragment, type ReactNode } from 'react';

export function Breakable({ text }: { readonly text: string }): ReactNode {
  return text.split(/(?<=[./_])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never change their order.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
