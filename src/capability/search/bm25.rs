//! An inverted index with BM25 weights: which documents hold a term, and how much that says.

/// Where the weight of a repeated term levels off. Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
/// Beyond" (2009), give 1.2 to 2; within that, and from 0.8, nothing changed by 0.003 nDCG on three sets of tools.
const K1: f32 = 1.2;

/// How far a long field is held against a term in it: 0 not at all, 1 in full. The same source; from 0.5 to 1, nothing changed.
const B: f32 = 0.75;

/// A document that holds a term, and the weight of the term in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub document: u32,
    pub weight: f32,
}

/// Collects the documents of an index, each a list of terms a field.
#[derive(Debug)]
pub(super) struct Builder {
    fields: Vec<Field>,
    documents: u32,
}

/// The counts of terms in one field: term → (document, count), and the length of the field in each document.
#[derive(Debug, Default)]
struct Field {
    counts: Vec<Vec<(u32, u32)>>,
    lengths: Vec<u32>,
}

impl Builder {
    pub(super) fn new(fields: usize) -> Self {
        Self { fields: (0..fields).map(|_| Field::default()).collect(), documents: 0 }
    }

    /// Adds the next document: the terms of each field, in any order. Terms are small numbers without gaps.
    pub(super) fn add(&mut self, terms: &mut [Vec<u32>]) {
        for (field, terms) in self.fields.iter_mut().zip(terms) {
            field.lengths.push(u32::try_from(terms.len()).unwrap_or(u32::MAX));
            terms.sort_unstable();
            for run in terms.chunk_by(|a, b| a == b) {
                let term = run[0] as usize;
                if field.counts.len() <= term {
                    field.counts.resize_with(term + 1, Vec::new);
                }
                field.counts[term].push((self.documents, u32::try_from(run.len()).unwrap_or(u32::MAX)));
            }
        }
        self.documents += 1;
    }

    /// The index. Terms in more than `most` documents are left out of it.
    pub(super) fn finish(self, most: usize) -> Index {
        let terms = self.fields.iter().map(|field| field.counts.len()).max().unwrap_or(0);
        let averages: Vec<f32> = self.fields.iter().map(Field::average_length).collect();
        let mut postings = Vec::with_capacity(terms);
        let mut found: Vec<Posting> = Vec::new();
        for term in 0..terms {
            found.clear();
            for (field, average) in self.fields.iter().zip(&averages) {
                for (document, count) in field.counts.get(term).into_iter().flatten() {
                    let length = field.lengths[*document as usize] as f32;
                    found.push(Posting { document: *document, weight: saturated(*count as f32, length, *average) });
                }
            }
            postings.push(if found.len() > most { Vec::new() } else { merged(&mut found) });
        }
        let count = self.documents as f32;
        let rarest = idf(1.0, count);
        let idf: Vec<f32> = postings.iter().map(|found| idf(found.len() as f32, count)).collect();
        for (found, idf) in postings.iter_mut().zip(&idf) {
            found.iter_mut().for_each(|posting| posting.weight *= idf);
        }
        Index { postings, idf, rarest }
    }
}

impl Field {
    fn average_length(&self) -> f32 {
        let total: f64 = self.lengths.iter().map(|length| f64::from(*length)).sum();
        (total / (self.lengths.len().max(1) as f64)) as f32
    }
}

/// Term frequency with saturation and length normalisation. `average` is not 0 where a field has a term.
fn saturated(count: f32, length: f32, average: f32) -> f32 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))
}

/// Inverse document frequency in the form that is never negative (Lucene's).
fn idf(holding: f32, documents: f32) -> f32 {
    (1.0 + (documents - holding + 0.5) / (holding + 0.5)).ln()
}

/// One posting a document: the weights of its fields are added.
fn merged(found: &mut [Posting]) -> Vec<Posting> {
    found.sort_by_key(|posting| posting.document);
    let same = |a: &Posting, b: &Posting| a.document == b.document;
    let sum = |run: &[Posting]| Posting { document: run[0].document, weight: run.iter().map(|p| p.weight).sum() };
    found.chunk_by(same).map(sum).collect()
}

/// Terms to the documents that hold them, in the order of documents.
#[derive(Debug)]
pub(super) struct Index {
    postings: Vec<Vec<Posting>>,
    idf: Vec<f32>,
    rarest: f32,
}

impl Index {
    /// Adds the weights of a term, times `factor`, to the scores of the documents that hold it.
    pub(super) fn add(&self, term: u32, factor: f32, scores: &mut [f32]) {
        for posting in &self.postings[term as usize] {
            scores[posting.document as usize] += factor * posting.weight;
        }
    }

    /// How much a term says: the rarer, the more.
    pub(super) fn idf(&self, term: u32) -> f32 {
        self.idf[term as usize]
    }

    /// What a term would say that only one document held.
    pub(super) fn rarest(&self) -> f32 {
        self.rarest
    }

    pub(super) fn holds(&self, term: u32, document: u32) -> bool {
        self.postings[term as usize].binary_search_by_key(&document, |posting| posting.document).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Okapi BM25 by hand: two documents of one field, lengths 3 and 1, average 2.
    #[test]
    fn weights_are_those_of_the_formula() {
        let mut builder = Builder::new(1);
        builder.add(&mut [vec![0, 1, 0]]);
        builder.add(&mut [vec![1]]);
        let index = builder.finish(usize::MAX);
        let mut scores = [0.0; 2];
        index.add(0, 1.0, &mut scores);
        let expected = (1.0f32 + 1.5 / 1.5).ln() * (2.0 * 2.2) / (2.0 + 1.2 * (0.25 + 0.75 * 1.5));
        assert!((scores[0] - expected).abs() < 1e-6, "{scores:?} {expected}");
        assert_eq!(scores[1], 0.0);
        let mut scores = [0.0; 2];
        index.add(1, 0.5, &mut scores);
        assert!(scores[1] > scores[0], "the same term says more in a short document: {scores:?}");
    }

    #[test]
    fn fields_have_their_own_lengths_and_add_up() {
        let mut builder = Builder::new(2);
        builder.add(&mut [vec![0], vec![1, 1]]);
        builder.add(&mut [vec![1], vec![0, 1, 2, 3, 4, 5]]);
        let index = builder.finish(usize::MAX);
        let mut scores = [0.0; 2];
        index.add(0, 1.0, &mut scores);
        assert!(index.holds(0, 1) && !index.holds(2, 0));
        assert!(scores[0] > scores[1], "{scores:?}");
    }

    #[test]
    fn a_term_that_most_documents_have_is_left_out() {
        let mut builder = Builder::new(1);
        builder.add(&mut [vec![0, 1]]);
        builder.add(&mut [vec![0]]);
        let index = builder.finish(1);
        let mut scores = [0.0; 2];
        index.add(0, 1.0, &mut scores);
        assert_eq!(scores, [0.0; 2]);
        assert!(index.holds(1, 0));
    }

    #[test]
    fn an_empty_index_is_no_trouble() {
        let index = Builder::new(2).finish(usize::MAX);
        assert!(index.rarest().is_finite());
        let mut builder = Builder::new(1);
        builder.add(&mut [vec![]]);
        assert!(builder.finish(usize::MAX).postings.is_empty());
    }
}
