import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { nameField, pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import { kindEntries } from './fields.ts';
import type { TopicsService } from './service.ts';
import type { Topic } from './types.ts';

const events = kindEntries
  .describe('Event types of the topic; a final * matches every type with that prefix')
  .meta({ examples: [['fault.router_offline', 'job.*']] });

const newTopicBody = z.object({ name: nameField.meta({ examples: ['Outages'] }), events: events.optional() }).meta({ id: 'NewTopic' });
const topicChangeBody = newTopicBody.partial().meta({ id: 'TopicChange' });
const topicSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    events: z.array(z.string()).meta({ examples: [['fault.router_offline', 'job.*']] }),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Topic' });
const topicParams = z.object({ topic_id: pathId });

const tags = ['notifications'];
const conflict = { 409: problemSchema.describe('The team already has a topic with this name, or too many topics') };

export interface TopicRoutesDeps {
  topics: TopicsService;
}

export function topicRoutes(app: App, deps: TopicRoutesDeps): void {
  readTopics(app, deps.topics);
  writeTopics(app, deps.topics);
  deleteTopic(app, deps.topics);
}

function readTopics(app: App, topics: TopicsService): void {
  app.get(
    '/api/topics',
    {
      schema: {
        tags,
        summary: 'List the topics of the team, newest first',
        querystring: pageQuery,
        response: { 200: envelope(z.array(topicSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await topics.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, (topic) => ({ at: topic.createdAt, id: topic.id }));
      return success(list.map(present));
    },
  );
  app.get(
    '/api/topics/:topic_id',
    { schema: { tags, summary: 'Read one topic', params: topicParams, response: { 200: envelope(topicSchema), ...commonErrors } } },
    async (request) => success(present(await topics.get(principalOf(request).teamId, request.params.topic_id))),
  );
}

function writeTopics(app: App, topics: TopicsService): void {
  app.post(
    '/api/topics',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Create a topic that groups can follow',
        body: newTopicBody,
        response: { 200: envelope(topicSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const { name, events = [] } = request.body;
      request.auditDetail = name;
      return success(present(await topics.create(principalOf(request).teamId, { name, events })));
    },
  );
  app.patch(
    '/api/topics/:topic_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Change a topic; missing fields stay unchanged',
        params: topicParams,
        body: topicChangeBody,
        response: { 200: envelope(topicSchema), ...commonErrors, ...conflict },
      },
    },
    async (request) => {
      const topic = await topics.change(principalOf(request).teamId, request.params.topic_id, request.body);
      request.auditDetail = topic.name;
      return success(present(topic));
    },
  );
}

function deleteTopic(app: App, topics: TopicsService): void {
  app.delete(
    '/api/topics/:topic_id',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Delete a topic and remove it from every group',
        params: topicParams,
        response: { 204: z.null().describe('Deleted'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      request.auditDetail = (await topics.get(teamId, request.params.topic_id)).name;
      await topics.delete(teamId, request.params.topic_id);
      return reply.code(204).send(null);
    },
  );
}

function present(topic: Topic): z.infer<typeof topicSchema> {
  return {
    id: topic.id,
    name: topic.name,
    events: topic.events,
    created_at: toDateTime(topic.createdAt),
    updated_at: toDateTime(topic.updatedAt),
  };
}
