import { AppError } from '../../../platform/core/errors.ts';
import type { ContactsService } from '../contacts/service.ts';
import type { OptoutScope } from '../contacts/types.ts';
import type { MessageLinks } from './links.ts';
import { confirmPage, confirmedPage, unsubscribePage, unsubscribedPage, uselessPage } from './pages.ts';
import type { Page } from './pages.ts';

/** What people do with the links of their messages. */
export class MessageVisits {
  readonly #contacts: ContactsService;
  readonly #links: MessageLinks;

  constructor({ contacts, links }: { contacts: ContactsService; links: MessageLinks }) {
    this.#contacts = contacts;
    this.#links = links;
  }

  async showUnsubscribe(token: string): Promise<Page> {
    const link = this.#links.read(token);
    const names = link && (await this.#contacts.namesOf(link));
    return names ? unsubscribePage({ ...names, hasTopics: link.topicIds.length > 0 }) : uselessPage();
  }

  /** @param scope what the form says; undefined for one-click unsubscribing by the mail program (RFC 8058), which leaves the group */
  async unsubscribe(token: string, scope: OptoutScope | undefined): Promise<Page> {
    const link = this.#links.read(token);
    if (!link) return uselessPage();
    const { teamId, userId, groupId, topicIds } = link;
    const left: [OptoutScope, string][] =
      scope === 'topic' ? topicIds.map((id) => ['topic', id]) : scope === 'all' ? [['all', '']] : [['group', groupId]];
    for (const [of, id] of left) await this.#contacts.optOut({ teamId, userId }, of, id);
    return unsubscribedPage();
  }

  async showConfirm(token: string): Promise<Page> {
    const link = readConfirm(token);
    const names = link && (await this.#contacts.namesOf(link));
    return names ? confirmPage(names) : uselessPage();
  }

  async confirm(token: string): Promise<Page> {
    const link = readConfirm(token);
    if (!link) return uselessPage();
    try {
      await this.#contacts.verify(link, link.contactId, link.code);
      return confirmedPage();
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'invalid' && error.code !== 'not_found')) throw error;
      // Pressed twice, or opened again: what it was for is done.
      return (await this.#contacts.isProvedBy(link, link.contactId, link.code)) ? confirmedPage() : uselessPage();
    }
  }
}

function readConfirm(token: string): { teamId: string; userId: string; contactId: string; code: string } | undefined {
  const [teamId, userId, contactId, code, ...rest] = token.split('.');
  return teamId && userId && contactId && code && rest.length === 0 ? { teamId, userId, contactId, code } : undefined;
}
