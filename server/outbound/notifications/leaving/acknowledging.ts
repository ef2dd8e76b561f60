import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { ContactsService } from '../contacts/service.ts';
import type { MessagesService } from '../messages/service.ts';
import type { TargetsService } from '../targets/service.ts';
import type { ThreadsService } from '../threads/service.ts';
import type { AcknowledgeLink, MessageLinks } from './links.ts';
import { acknowledgePage, acknowledgedPage, overPage, uselessPage } from './pages.ts';
import type { Page } from './pages.ts';

/** What the audit log has of a use of the link. */
export interface AuditLine {
  team_id: string;
  actor_kind: string;
  actor_id: string;
  source: string;
  action: string;
  target: string;
  result: number;
  /** What it was about. */
  detail: string | null;
}

interface Deps {
  clock: Clock;
  links: Pick<MessageLinks, 'readAcknowledge'>;
  contacts: Pick<ContactsService, 'roleOf'>;
  targets: Pick<TargetsService, 'get'>;
  threads: Pick<ThreadsService, 'acknowledge'>;
  messages: Pick<MessagesService, 'describe'>;
  audit: { record: (entry: AuditLine) => void };
}

/** The role that `POST /api/threads/:thread_id/acknowledge` asks for, and those above it. */
const MAY_TAKE_OVER: ReadonlySet<Role | undefined> = new Set<Role>(['operator', 'admin']);

/** What people do with the link in a message that takes its thread over. */
export class AcknowledgeVisits {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Changes nothing: mail scanners and previews of chats open every link. */
  async show(token: string): Promise<Page> {
    const { clock, links, messages } = this.#deps;
    const link = links.readAcknowledge(token, clock.now());
    if (!link || !(await this.#isReader(link))) return uselessPage();
    const thread = await messages.describe(link.teamId, link.threadId);
    if (!thread) return uselessPage();
    return thread.isOpen ? acknowledgePage(thread) : overPage(thread);
  }

  /** @param source where the visit comes from, for the audit log */
  async acknowledge(token: string, source: string): Promise<Page> {
    const { clock, links, messages, threads } = this.#deps;
    const link = links.readAcknowledge(token, clock.now());
    if (!link || !(await this.#isReader(link))) return uselessPage();
    let isTaken = true;
    try {
      await threads.acknowledge(link.teamId, link.reader, link.threadId);
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'not_found' && error.code !== 'conflict')) throw error;
      isTaken = false;
    }
    const thread = await messages.describe(link.teamId, link.threadId);
    if (isTaken) this.#record(link, source, thread?.subject ?? null);
    if (!thread) return uselessPage();
    return thread.isOpen ? acknowledgedPage(thread) : overPage(thread);
  }

  #record({ teamId, reader: { kind, id }, threadId }: AcknowledgeLink, source: string, detail: string | null): void {
    const actor = { team_id: teamId, actor_kind: kind, actor_id: id, source };
    const what = { action: 'took over by link', target: `/api/threads/${threadId}`, detail };
    this.#deps.audit.record({ ...actor, ...what, result: 200 });
  }

  /** Still a member of the team who may take things over, as the API asks, or an address of the team. */
  async #isReader({ teamId, reader: { kind, id } }: AcknowledgeLink): Promise<boolean> {
    const { contacts, targets } = this.#deps;
    if (kind === 'user') return MAY_TAKE_OVER.has(await contacts.roleOf({ teamId, userId: id }));
    try {
      await targets.get(teamId, id);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return false;
      throw error;
    }
  }
}
