import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { ContactsService } from '../contacts/service.ts';
import type { MessagesService } from '../messages/service.ts';
import type { TargetsService } from '../targets/service.ts';
import type { ThreadsService } from '../threads/service.ts';
import type { AcknowledgeLink, MessageLinks } from './links.ts';
import { acknowledgePage, acknowledgedPage, overPage, uselessPage } from './pages.ts';
import type { Page } from './pages.ts';

interface Deps {
  clock: Clock;
  links: Pick<MessageLinks, 'readAcknowledge'>;
  contacts: Pick<ContactsService, 'isMember'>;
  targets: Pick<TargetsService, 'get'>;
  threads: Pick<ThreadsService, 'acknowledge'>;
  messages: Pick<MessagesService, 'describe'>;
}

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

  async acknowledge(token: string): Promise<Page> {
    const { clock, links, messages, threads } = this.#deps;
    const link = links.readAcknowledge(token, clock.now());
    if (!link || !(await this.#isReader(link))) return uselessPage();
    try {
      await threads.acknowledge(link.teamId, link.reader, link.threadId);
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'not_found' && error.code !== 'conflict')) throw error;
    }
    const thread = await messages.describe(link.teamId, link.threadId);
    if (!thread) return uselessPage();
    return thread.isOpen ? acknowledgedPage(thread) : overPage(thread);
  }

  /** Still a member of the team, or an address of it. */
  async #isReader({ teamId, reader: { kind, id } }: AcknowledgeLink): Promise<boolean> {
    const { contacts, targets } = this.#deps;
    if (kind === 'user') return contacts.isMember({ teamId, userId: id });
    try {
      await targets.get(teamId, id);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return false;
      throw error;
    }
  }
}
