// Reads what came from outside: whatever it is, what comes of it is what was wanted, or nothing.

export function record(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function numbers(value: unknown): number[] {
  return list(value).filter((it): it is number => number(it) !== null);
}

export function texts(value: unknown): string[] {
  return list(value).filter((it): it is string => typeof it === 'string');
}
