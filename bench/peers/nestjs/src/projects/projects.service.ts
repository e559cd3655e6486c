// Creates projects with their milestones and tells of them, in one transaction.
// Knows nothing of HTTP.

import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../database/database.module.js';
import { events, milestones, projects } from '../database/schema.js';
import type { CreateProjectDto } from './create-project.dto.js';

@Injectable()
export class ProjectsService {
  constructor(@Inject(DATABASE) private readonly db: Database) {}

  create(workspaceId: string, dto: CreateProjectDto) {
    const { name, client_id: clientId, payee_id: payeeId, metadata } = dto;
    return this.db.transaction(async (tx) => {
      const [project] = await tx.insert(projects).values({ workspaceId, name, clientId, payeeId, metadata }).returning();
      if (project === undefined) throw new Error('The insert returned nothing.');
      const { id: projectId, currency } = project;
      const rows = (dto.milestones ?? []).map(({ title, amount, due_date: dueDate, description }) => {
        return { workspaceId, projectId, title, amount, dueDate, description, currency, payeeId };
      });
      const made = rows.length === 0 ? [] : await tx.insert(milestones).values(rows).returning();
      await tx.insert(events).values([
        { workspaceId, type: 'project.created', data: { projectId, name, clientId } },
        ...made.map(({ id, title, amount }) => {
          return { workspaceId, type: 'milestone.created', data: { projectId, milestoneId: id, title, amount, currency } };
        }),
      ]);
      return { ...project, milestones: made };
    });
  }
}
