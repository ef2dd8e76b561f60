import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { SPANS, useRouterStory } from '../../../data/use-router-story.ts';
import type { RouterStory } from '../../../data/use-router-story.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { useNow } from '../../../parts/use-now.ts';
import { StoryRails } from '../../../rails/story-rails.tsx';
import { Facts } from './facts.tsx';
import { History } from './history.tsx';
import { deedsOf, lanesOf } from './lanes-of.ts';
import { nextStepsOf } from './next-steps.ts';
import { OpenHere } from './open-here.tsx';
import { railsNow } from './rails-now.ts';
import { useRouter } from './router-page.tsx';
import { useSpan } from './span-choice.tsx';
import { words } from './words.ts';

/** The present moment of the axis moves this often, milliseconds. */
const TURN_MS = 15_000;

/** What happened to a router: the rails with the reasons, the history, what is open and what to do next. */
export function StoryPage() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const { router } = useRouter(routerId);
  const span = useSpan();
  const { data: story, error } = useRouterStory(routerId, span);
  const now = useNow(TURN_MS);
  if (!router) return null;
  if (!story) return error ? <ReadingFailed error={error} what={words.story} /> : <Reading />;
  const rails = railsNow(router, story, now, SPANS[span]);
  return (
    <>
      <StoryRails rails={rails} deeds={deedsOf(story.deeds)} lanes={lanesOf(routerId, story.deeds, now)} />
      <div className="story-grid">
        <History routerId={routerId} hours={SPANS[span]} />
        <div>
          <Next router={router} story={story} />
          <OpenHere routerId={routerId} siteId={router.site_id} />
        </div>
        <Facts router={router} />
      </div>
    </>
  );
}

function Next({ router, story }: { router: Router; story: RouterStory }) {
  const next = useMemo(() => nextStepsOf(router, story.deeds), [router, story]);
  if (!next) return null;
  return (
    <Section title={words.next.title}>
      <div className="steps">
        <p>
          <b className="b">{words.next.likely}</b> {next.likely}
        </p>
        <ul className="t2">
          {next.look.map(({ text, href }) => (
            <li key={href}>
              <AppLink href={href} className="hand">
                {text}
              </AppLink>
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}
