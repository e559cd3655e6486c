// The routes of milestones.
// They validate and hand on; the service writes.

import { Body, Controller, Inject, Param, ParseUUIDPipe, Patch, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, Scopes, WorkspaceId } from '../auth/api-key.guard.js';
import { MilestonesService } from './milestones.service.js';
import { UpdateMilestoneDto } from './update-milestone.dto.js';

@Controller('v1/milestones')
@UseGuards(ApiKeyGuard)
export class MilestonesController {
  constructor(@Inject(MilestonesService) private readonly service: MilestonesService) {}

  @Patch(':id')
  @Scopes('milestones:approve')
  update(@WorkspaceId() workspaceId: string, @Param('id', ParseUUIDPipe) id: string, @Body() _dto: UpdateMilestoneDto) {
    return this.service.approve(workspaceId, id);
  }
}
