// The routes of projects.
// They validate and hand on; the service writes.

import { Body, Controller, Inject, Post, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, Scopes, WorkspaceId } from '../auth/api-key.guard.js';
import { CreateProjectDto } from './create-project.dto.js';
import { ProjectsService } from './projects.service.js';

@Controller('v1/projects')
@UseGuards(ApiKeyGuard)
export class ProjectsController {
  constructor(@Inject(ProjectsService) private readonly service: ProjectsService) {}

  @Post()
  @Scopes('projects:write')
  create(@WorkspaceId() workspaceId: string, @Body() dto: CreateProjectDto) {
    return this.service.create(workspaceId, dto);
  }
}
