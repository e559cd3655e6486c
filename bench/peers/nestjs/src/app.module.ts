// The modules of the peer service.
// Wires only.

import { Module } from '@nestjs/common';
import { DatabaseModule } from './database/database.module.js';
import { MilestonesController } from './milestones/milestones.controller.js';
import { MilestonesService } from './milestones/milestones.service.js';
import { PaymentsController } from './payments/payments.controller.js';
import { PaymentsService } from './payments/payments.service.js';
import { ProjectsController } from './projects/projects.controller.js';
import { ProjectsService } from './projects/projects.service.js';

@Module({
  imports: [DatabaseModule],
  controllers: [PaymentsController, ProjectsController, MilestonesController],
  providers: [PaymentsService, ProjectsService, MilestonesService],
})
export class AppModule {}
