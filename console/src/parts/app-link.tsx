import { useRouter } from '@tanstack/react-router';
import type { RouterHistory } from '@tanstack/react-router';

interface Props extends React.ComponentProps<'a'> {
  /** An address of this application, as a path. */
  href: string;
  /** What the browser keeps beside the address. */
  state?: Parameters<RouterHistory['push']>[1];
}

/** A link whose address is made from data. Where the route is known when the code is written, `Link` checks it. */
export function AppLink({ href, state, onClick, children, ...rest }: Props) {
  const router = useRouter();
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        // With a key held the browser opens a tab or a window of its own.
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        router.history.push(href, state);
      }}
    >
      {children}
    </a>
  );
}
