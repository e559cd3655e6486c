// The routes that read payments: those of a project, those of the workspace, one by id.
// They turn a query into a read and a record into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import {
  paymentExample,
  paymentList,
  paymentListQuery,
  paymentResource,
  presentPayment,
  projectPaymentListQuery,
} from '../../schemas/payments.ts';
import { ABSENT } from '../mount.ts';
import { listAnswer, listExample, pageOf, type Reads, readsOne } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function paymentReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/projects/:id/payments',
      operationId: 'listProjectPayments',
      tag: 'Payments',
      summary: 'List the payments of a project',
      description: 'The payments of the project, newest first.',
      scope: 'payments:read',
      ids: { id: 'project' },
      query: projectPaymentListQuery,
      success: { status: 200, description: 'A page of payments.', schema: paymentList, example: listExample(paymentExample) },
      errors: [],
      async handle({ caller, ids, query }) {
        const page = pageOf(query);
        const found = await reads.listProjectPayments(caller.workspaceId, { projectId: ids.id as Uuid, status: query.status }, page);
        return found === null ? ABSENT : listAnswer('payment', found, page, presentPayment);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/payments',
      operationId: 'listPayments',
      tag: 'Payments',
      summary: 'List payments',
      description: 'The payments of the workspace, newest first. `status=pending` lists those that wait for their release.',
      scope: 'payments:read',
      query: paymentListQuery,
      success: { status: 200, description: 'A page of payments.', schema: paymentList, example: listExample(paymentExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const { status, project_id: projectId, client_id: clientId, milestone_id: milestoneId } = query;
        const found = await reads.listPayments(caller.workspaceId, { status, projectId, clientId, milestoneId }, page);
        return listAnswer('payment', found, page, presentPayment);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/payments/:id',
      operationId: 'getPayment',
      tag: 'Payments',
      summary: 'Read a payment',
      scope: 'payments:read',
      ids: { id: 'payment' },
      success: { status: 200, description: 'The payment.', schema: paymentResource, example: paymentExample },
      errors: [],
      handle: readsOne(reads.getPayment, (payment) => ({ body: presentPayment(payment) })),
    }),
  ];
}
