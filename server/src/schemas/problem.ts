// The body of every error answer (RFC 9457), for the document and for whoever reads one.
// Describes only; problems are made in http/problems.ts.

import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];

export const errorCode = z.enum(codes).meta({ id: 'ErrorCode', description: 'What went wrong. Stable: decide by this, not by the words.' });

export const fieldError = z
  .object({
    pointer: z.string().meta({
      description:
        'Where: a JSON pointer into the body (`/milestones/0/amount`; empty for the body itself), `query/<name>` or `header/<Name>`.',
    }),
    code: z.string().meta({ description: 'What is wrong with it, stable: `missing`, `wrong_type`, `unknown_field`, `too_long` …' }),
    message: z.string().meta({ description: 'What would be right.' }),
  })
  .meta({
    id: 'FieldError',
    description: 'One field that is wrong.',
    example: { pointer: '/amount', code: 'wrong_type', message: 'Must be an integer.' },
  });

export const problem = z
  .object({
    type: z.string().meta({ format: 'uri-reference', description: 'The page that explains this kind of error.' }),
    title: z.string().meta({ description: 'The kind of error in a few words, always the same for one code.' }),
    status: z.int().min(400).max(599).meta({ description: 'The HTTP status.' }),
    detail: z.string().meta({ description: 'What happened this time.' }),
    code: errorCode,
    request_id: z.string().meta({ description: 'Also in the Request-Id header; names the request in the log of the server.' }),
    errors: z.array(fieldError).optional().meta({ description: 'Every field that is wrong, where fields are at fault.' }),
  })
  .meta({ id: 'Problem', description: 'An error, in the form of RFC 9457.' });
