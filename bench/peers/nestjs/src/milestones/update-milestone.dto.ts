// What a client sends to move a milestone.
// Shapes and bounds only.

import { IsIn } from 'class-validator';

export class UpdateMilestoneDto {
  @IsIn(['approved'])
  status: 'approved';
}
