// Approves milestones: the milestone, its invoice with the next number, its payment and the event, in one transaction.
// Knows nothing of HTTP but its errors.

import { ConflictException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { and, eq, sql } from 'drizzle-orm';
import { DATABASE, type Database } from '../database/database.module.js';
import { events, invoices, milestones, payments, projects, workspaces } from '../database/schema.js';

@Injectable()
export class MilestonesService {
  constructor(@Inject(DATABASE) private readonly db: Database) {}

  approve(workspaceId: string, id: string) {
    return this.db.transaction(async (tx) => {
      const [milestone] = await tx
        .select()
        .from(milestones)
        .where(and(eq(milestones.id, id), eq(milestones.workspaceId, workspaceId)))
        .for('update');
      if (milestone === undefined) throw new NotFoundException();
      if (milestone.status === 'approved') return milestone;
      if (milestone.status !== 'submitted') throw new ConflictException('invalid_transition');
      const [project] = await tx.select().from(projects).where(eq(projects.id, milestone.projectId));
      if (project === undefined) throw new NotFoundException();
      const now = new Date();
      const [approved] = await tx
        .update(milestones)
        .set({ status: 'approved', approvedAt: now, updatedAt: now, version: milestone.version + 1 })
        .where(eq(milestones.id, id))
        .returning();
      const { projectId, amount, currency, payeeId, title } = milestone;
      const [workspace] = await tx
        .update(workspaces)
        .set({ invoiceNumber: sql`${workspaces.invoiceNumber} + 1` })
        .where(eq(workspaces.id, workspaceId))
        .returning();
      const number = workspace?.invoiceNumber as number;
      const [invoice] = await tx
        .insert(invoices)
        .values({ workspaceId, number, projectId, milestoneId: id, total: amount, currency, status: 'paid' })
        .returning();
      const shared = { workspaceId, projectId, milestoneId: id, amount, currency };
      await tx.insert(payments).values({
        ...shared,
        invoiceId: invoice?.id as string,
        clientId: project.clientId,
        payeeId,
        status: 'released',
        releasedAt: now,
      });
      await tx.insert(events).values([
        { workspaceId, type: 'milestone.approved', data: { projectId, milestoneId: id, title, amount, currency } },
        { workspaceId, type: 'payment.released', data: { projectId, milestoneId: id, amount, currency } },
      ]);
      return approved;
    });
  }
}
