// The guard of every route: the API key of the request, looked up in the database, and the scopes the route asks for.
// Caches nothing, so that a revoked key is refused at once.

import { createHash } from 'node:crypto';
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  SetMetadata,
  UnauthorizedException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { eq } from 'drizzle-orm';
import type { Request } from 'express';
import { DATABASE, type Database } from '../database/database.module.js';
import { apiKeys } from '../database/schema.js';

const SCOPES = 'scopes';
export const Scopes = (...scopes: string[]) => SetMetadata(SCOPES, scopes);

interface AuthenticatedRequest extends Request {
  workspaceId: string;
}

export const WorkspaceId = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().workspaceId,
);

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    @Inject(DATABASE) private readonly db: Database,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const [scheme, secret] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== 'Bearer' || secret === undefined) throw new UnauthorizedException();
    const hash = createHash('sha256').update(secret).digest('hex');
    const [key] = await this.db.select().from(apiKeys).where(eq(apiKeys.hash, hash)).limit(1);
    if (key === undefined || key.revokedAt !== null) throw new UnauthorizedException();
    const wanted = this.reflector.getAllAndOverride<string[]>(SCOPES, [context.getHandler(), context.getClass()]) ?? [];
    if (!wanted.every((scope) => key.scopes.includes(scope))) throw new ForbiddenException();
    request.workspaceId = key.workspaceId;
    return true;
  }
}
