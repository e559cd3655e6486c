// Reads payments.
// Writes none; an approval does.

import { Inject, Injectable, NotFoundException } from '@nestjs/common';
import { and, eq } from 'drizzle-orm';
import { DATABASE, type Database } from '../database/database.module.js';
import { payments } from '../database/schema.js';

@Injectable()
export class PaymentsService {
  constructor(@Inject(DATABASE) private readonly db: Database) {}

  async findOne(workspaceId: string, id: string) {
    const payment = await this.db.query.payments.findFirst({ where: and(eq(payments.id, id), eq(payments.workspaceId, workspaceId)) });
    if (payment === undefined) throw new NotFoundException();
    return payment;
  }
}
