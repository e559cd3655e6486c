// The routes of a workspace's settings. They turn a request into a read or a command and decide nothing.

import { updateWorkspace } from '../../commands/update-workspace.ts';
import type { WorkspaceSettings } from '../../domain/workspace.ts';
import { presentWorkspace, workspaceExample, workspaceResource, workspaceUpdate, workspaceUpdateExample } from '../../schemas/workspace.ts';
import { ABSENT } from '../mount.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { audited, etag, submit, type Writes } from '../writes.ts';

const serialize = serializerOf(workspaceResource);

const updated = (settings: WorkspaceSettings) => ({
  status: 200,
  headers: etag(settings.version),
  body: serialize(presentWorkspace(settings)),
});

export function settingsRoutes(reads: Reads, writes: Writes): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/workspace',
      operationId: 'getWorkspace',
      tag: 'Workspace',
      summary: 'Read the workspace and its settings',
      scope: 'workspace:read',
      success: { status: 200, description: 'The workspace.', schema: workspaceResource, example: workspaceExample },
      errors: [],
      versioned: true,
      async handle({ caller }) {
        const settings = await reads.getSettings(caller.workspaceId);
        return settings === null ? ABSENT : { headers: etag(settings.version), body: presentWorkspace(settings) };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/v1/workspace',
      operationId: 'updateWorkspace',
      tag: 'Workspace',
      summary: 'Change the settings of the workspace',
      description:
        'Changes the settings it names and leaves the others. Invoices that were issued keep the name, address, logo and number they have; ' +
        'those to come take the new ones, and their count goes on. Projects that exist keep their currency.',
      scope: 'workspace:write',
      body: workspaceUpdate,
      bodyExample: workspaceUpdateExample,
      success: { status: 200, description: 'The workspace as it is now.', schema: workspaceResource, example: workspaceExample },
      errors: ['idempotency_key_reused', 'precondition_failed'],
      idempotent: true,
      versioned: true,
      handle(request) {
        const { legal_name, address_lines, tax_id, logo, default_currency, invoice_prefix, tax_line, ...fields } = request.body;
        const update = {
          ...fields,
          legalName: legal_name,
          addressLines: address_lines,
          taxId: tax_id,
          logo: logo?.data ?? (logo === null ? null : undefined),
          defaultCurrency: default_currency,
          invoicePrefix: invoice_prefix,
          taxLine: tax_line,
        };
        return submit(writes.lane, updateWorkspace(audited(writes, request, updated), update, request.ifMatch));
      },
    }),
  ];
}
