// A link by its whole address, where that is put together at run time: rows of tables, results of a search.
// Where the page is known, use the router's own Link, which checks it.

import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

export interface TextLinkProps {
  readonly href: string;
  readonly children: ReactNode;
  readonly className?: string | undefined;
}

export function TextLink({ href, children, className }: TextLinkProps): ReactNode {
  const router = useRouter();
  function follow(click: MouseEvent): void {
    // Anything but a plain click is the browser's: a new tab, a download.
    if (click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return;
    click.preventDefault();
    router.history.push(href);
  }
  return (
    <a href={href} className={className} onClick={follow}>
      {children}
    </a>
  );
}
