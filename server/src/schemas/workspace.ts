// The workspace on the wire: its settings, what changes them, and the presenter.
// Decides nothing; the domain does.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { type Logo, logoTypes, MAX_LOGO_BYTES, MAX_LOGO_PIXELS, readLogo } from '../domain/logo.ts';
import { isTimeZone } from '../domain/time-zone.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { MAX_ADDRESS_LINES, type WorkspaceSettings } from '../domain/workspace.ts';
import { countField, currency, currencyField, exampleId, idField, name, paragraph, text, timestamp, wanted } from './text.ts';

export const MAX_TAX_LINE_LENGTH = 500;
const MAX_ADDRESS_LINE_LENGTH = 100;
const MAX_TAX_ID_LENGTH = 50;
const MAX_PREFIX_LENGTH = 20;

/** A picture of one black pixel. */
const EXAMPLE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';

export const workspaceExample = {
  id: exampleId('workspace', 9),
  object: 'workspace' as const,
  name: 'Acme Works',
  legal_name: 'Acme Works GmbH',
  address_lines: ['Ludwigstraße 12', '80539 München', 'Germany'],
  tax_id: 'DE123456789',
  logo: { content_type: 'image/png' as const, width: 1, height: 1, data: EXAMPLE_PIXEL },
  default_currency: 'EUR',
  invoice_prefix: 'AW-2026-',
  tax_line: 'Reverse charge: the recipient accounts for VAT.',
  timezone: 'Europe/Berlin',
  version: 3,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-05T11:00:00.000Z',
};

export const logoResource = z
  .object({
    content_type: z.enum(logoTypes),
    width: countField('In pixels.', 1),
    height: countField('In pixels.', 1),
    data: z.string().meta({ description: 'The image in base64.' }),
  })
  .meta({ id: 'WorkspaceLogo', description: 'The logo on invoices.', example: workspaceExample.logo });

export const workspaceResource = z
  .object({
    id: idField('workspace'),
    object: z.literal('workspace'),
    name: z.string().meta({ description: 'What people call it.' }),
    legal_name: z.string().nullable().meta({ description: 'Who issues its invoices, where that is not the name.' }),
    address_lines: z.array(z.string()).meta({ description: 'The postal address, line by line, as it is on invoices.' }),
    tax_id: z.string().nullable().meta({ description: 'As it is on invoices: a VAT number, for example.' }),
    logo: logoResource.nullable(),
    default_currency: currencyField('The currency of projects that name none.'),
    invoice_prefix: z.string().meta({ description: 'What the numbers of invoices begin with from here on.' }),
    tax_line: z.string().nullable().meta({ description: 'A sentence on taxes on invoices. Nothing is reckoned from it.' }),
    timezone: z.string().meta({ description: 'In which time zone its days and months begin: a name of the IANA database.' }),
    version: countField('Grows with every change; the ETag.', 1),
    created_at: timestamp('When it was created.'),
    updated_at: timestamp('When its settings last changed.'),
  })
  .meta({ id: 'Workspace', description: 'A workspace and its settings.', example: workspaceExample });

export const presentLogo = (logo: Logo | null): z.output<typeof logoResource> | null =>
  logo === null ? null : { content_type: logo.contentType, width: logo.width, height: logo.height, data: logo.data.toString('base64') };

export function presentWorkspace(settings: WorkspaceSettings): z.output<typeof workspaceResource> {
  return {
    id: encodeId('workspace', settings.id),
    object: 'workspace',
    name: settings.name,
    legal_name: settings.legalName,
    address_lines: [...settings.addressLines],
    tax_id: settings.taxId,
    logo: presentLogo(settings.logo),
    default_currency: settings.defaultCurrency,
    invoice_prefix: settings.invoicePrefix,
    tax_line: settings.taxLine,
    timezone: settings.timezone,
    version: settings.version,
    created_at: formatTimestamp(settings.createdAt),
    updated_at: formatTimestamp(settings.updatedAt),
  };
}

const BASE64_LENGTH = Math.ceil(MAX_LOGO_BYTES / 3) * 4;
const LOGO = `a PNG or JPEG image in base64, up to ${MAX_LOGO_BYTES / 1024} KiB and ${MAX_LOGO_PIXELS} by ${MAX_LOGO_PIXELS} pixels; a PNG with 8 bits a channel, not interlaced and without a single transparent colour, or a baseline or progressive JPEG in grey or RGB`;

const logoInput = z
  .strictObject({
    data: z
      .string(wanted(LOGO))
      .transform((base64, context): Logo => {
        const isBase64 = base64.length <= BASE64_LENGTH && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
        const logo = isBase64 ? readLogo(Buffer.from(base64, 'base64')) : null;
        if (logo !== null) return logo;
        context.issues.push({ code: 'invalid_format', format: 'image', input: '', message: `Must be ${LOGO}.` });
        return z.NEVER;
      })
      .meta({
        description: `${LOGO.charAt(0).toUpperCase()}${LOGO.slice(1)}. Kept without texts, profiles and places.`,
        maxLength: BASE64_LENGTH,
      }),
  })
  .meta({ id: 'WorkspaceLogoInput', description: 'A new logo.', example: { data: EXAMPLE_PIXEL } });

const PREFIX = `1 to ${MAX_PREFIX_LENGTH} letters, digits and the signs - _ / and ., beginning with a letter or digit and ending with anything but a digit`;
// Ends with no digit, so that what is prefix and what is number can be told apart and no two invoices read alike.
const PREFIX_PATTERN = `^(?=[A-Za-z0-9])[A-Za-z0-9._/-]{0,${MAX_PREFIX_LENGTH - 1}}[A-Za-z._/-]$`;
const prefixForm = new RegExp(PREFIX_PATTERN);

const ZONE = 'a time zone of the IANA database, such as Europe/Berlin or UTC';

export const workspaceUpdateExample = {
  legal_name: 'Acme Works GmbH',
  address_lines: ['Ludwigstraße 12', '80539 München', 'Germany'],
  tax_id: 'DE123456789',
  invoice_prefix: 'AW-2026-',
};

export const workspaceUpdate = z
  .strictObject({
    name: name.optional(),
    legal_name: name.nullable().optional(),
    address_lines: z
      .array(text(MAX_ADDRESS_LINE_LENGTH), wanted('a list of lines'))
      .max(MAX_ADDRESS_LINES, { error: `An address has up to ${MAX_ADDRESS_LINES} lines.` })
      .optional(),
    tax_id: text(MAX_TAX_ID_LENGTH).nullable().optional(),
    logo: logoInput.nullable().optional(),
    default_currency: currency.optional().meta({ description: 'The currency of projects that name none, from here on.' }),
    invoice_prefix: z
      .string(wanted(PREFIX))
      .refine((value) => prefixForm.test(value), { error: `Must be ${PREFIX}.` })
      .optional()
      .meta({ description: 'For the numbers of invoices from here on; the count goes on.', pattern: PREFIX_PATTERN, example: 'AW-2026-' }),
    tax_line: paragraph(MAX_TAX_LINE_LENGTH, 1).nullable().optional(),
    timezone: z
      .string(wanted(ZONE))
      .refine(isTimeZone, { error: `Must be ${ZONE}.` })
      .optional()
      .meta({ example: 'Europe/Berlin' }),
  })
  .meta({
    id: 'WorkspaceUpdate',
    description: 'A change of settings. Fields not named stay as they are; null empties one.',
    example: workspaceUpdateExample,
  });

export type WorkspaceUpdateBody = z.output<typeof workspaceUpdate>;
