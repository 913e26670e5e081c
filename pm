mnist-knn method 1
transform pca:20
rerank none
candidates 96
metric l2
vote majority
k 1
weights uniform
tie smallest
