// A line over time. The library is fetched when the first chart is drawn.
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";

interface Props {
  title: string;
  summary: string; // the chart in words
  at: number[]; // seconds since 1970
  values: (number | null)[];
  write: (value: number) => string;
  colour: string; // the name of a CSS variable
  top?: number; // the highest value there can be
}

const height = 150;

export function Chart({ title, summary, at, values, write, colour, top }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element || at.length === 0) return;
    let chart: uPlot | undefined;
    let gone = false;
    void import("uplot").then(({ default: Plot }) => {
      if (!gone) chart = new Plot(options(element, write, colour, top), [at, values], element);
    });
    const resized = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      gone = true;
      resized.disconnect();
      chart?.destroy();
    };
  }, [at, values]);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong> <span class="small">{summary}</span>
      </figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${title}. ${summary}.`} />
    </figure>
  );
}

function options(element: HTMLElement, write: (value: number) => string, colour: string, top?: number): uPlot.Options {
  const css = getComputedStyle(element);
  const read = (name: string): string => css.getPropertyValue(name).trim();
  const grid = { stroke: read("--line"), width: 1 };
  const axis = { stroke: read("--muted"), grid, ticks: grid, font: `12px ${read("--font")}` };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false },
    scales: { y: { range: (_plot, _low, high) => [0, top ?? (high > 0 ? high * 1.1 : 1)] } },
    axes: [axis, { ...axis, size: 64, values: (_plot, marks) => marks.map(write) }],
    series: [{}, { stroke: read(colour), width: 1.6, fill: `${read(colour)}22` }],
  };
}
