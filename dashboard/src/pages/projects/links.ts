// Links as they are typed, one a line.
// Takes addresses of the web only: anything else that can be clicked could do something.

export const MAX_LINKS = 20;

/** One link a line; null where one is no address of the web. */
export function linksOf(text: string): readonly string[] | null {
  const links = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const areGood = links.every((link) => /^https?:\/\//i.test(link) && URL.canParse(link));
  return areGood && links.length <= MAX_LINKS ? links : null;
}
