import { useEffect, useRef } from 'react';
import type { FromTerminal, ToTerminal } from '../../terminal/messages.ts';

interface Props {
  /** Names the frame for readers. */
  title: string;
  /** Called with everything that the terminal's document says, and with a way to answer. */
  onMessage: (message: FromTerminal, answer: (message: ToTerminal) => void) => void;
  /** Filled with a way to speak to it once it is ready. */
  speaker: React.RefObject<((message: ToTerminal) => void) | undefined>;
}

/** The terminal's own document, in a frame: its library needs a policy that the page does not have. */
export function Screen({ title, onMessage, speaker }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const listener = useRef(onMessage);
  useEffect(() => {
    listener.current = onMessage;
  });
  useEffect(() => {
    const answer = (message: ToTerminal): void => frame.current?.contentWindow?.postMessage(message, location.origin);
    const hear = ({ source, origin, data }: MessageEvent<FromTerminal>): void => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return;
      if (data.kind === 'ready') speaker.current = answer;
      listener.current(data, answer);
    };
    window.addEventListener('message', hear);
    return () => {
      window.removeEventListener('message', hear);
      speaker.current = undefined;
    };
  }, [speaker]);
  return <iframe ref={frame} className="terminal-screen" title={title} src="/terminal.html" />;
}
