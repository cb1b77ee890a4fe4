// A uPlot chart as a component: made again when its options change, fed when its data change, as wide as its box.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

interface Props {
  options: Omit<uPlot.Options, "width">; // keep the same object as long as nothing in it changes
  data: uPlot.AlignedData;
  label: string; // what the chart shows, in words
}

export function Plot({ options, data, label }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(data);
  latest.current = data;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot({ ...options, width: Math.max(120, element.clientWidth) }, latest.current, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(120, element.clientWidth), height: options.height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [options]);
  useEffect(() => { plot.current?.setData(data); }, [data]);
  return <div ref={box} class="plot" role="img" aria-label={label} />;
}
