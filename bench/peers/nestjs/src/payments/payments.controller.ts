// The routes of payments.
// They hand on; the service reads.

import { Controller, Get, Inject, Param, ParseUUIDPipe, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, Scopes, WorkspaceId } from '../auth/api-key.guard.js';
import { PaymentsService } from './payments.service.js';

@Controller('v1/payments')
@UseGuards(ApiKeyGuard)
export class PaymentsController {
  constructor(@Inject(PaymentsService) private readonly service: PaymentsService) {}

  @Get(':id')
  @Scopes('payments:read')
  findOne(@WorkspaceId() workspaceId: string, @Param('id', ParseUUIDPipe) id: string) {
    return this.service.findOne(workspaceId, id);
  }
}
