// Puts a text on the clipboard, also on pages that were opened over plain http, which the newer way refuses.
// Says only whether it worked.

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.style.position = 'fixed';
    field.style.opacity = '0';
    // Within an open dialog, or its focus trap would take the selection away.
    (document.querySelector('[role="dialog"]') ?? document.body).append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    return isCopied;
  }
}
