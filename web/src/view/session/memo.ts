// Components that are drawn again only if what they are given has changed.

import { Component, h, type ComponentType, type VNode } from 'preact';

function differs(a: object, b: object): boolean {
  const before = a as Record<string, unknown>;
  const after = b as Record<string, unknown>;
  for (const key in before) if (!(key in after)) return true;
  for (const key in after) if (before[key] !== after[key]) return true;
  return false;
}

/** As React's; `preact/compat` would bring much more. */
export function memo<P extends object>(inner: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return differs(this.props, next);
    }

    override render(): VNode<P> {
      return h<P>(inner, this.props);
    }
  };
}
